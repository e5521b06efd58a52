// SPDX-License-Identifier: Apache-2.0
// Repeatedly kills a member at a random moment, and checks the survivors. Usage: kill_loop [--rounds N]
// [--seconds S] [--seed X] [--copy auto|vm|bounce]; the first limit reached ends it.
#include "kill_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <dirent.h>
#include <exception>
#include <malloc.h>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

using namespace soft_test;
using namespace robustness;
using clock_type = std::chrono::steady_clock;

namespace {

struct options {
  int rounds = 1'000'000;
  double seconds = 1e9;
  std::uint64_t seed = std::random_device{}();
  std::string copy = "auto";
};

options read(int count, char** words) {
  options o;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name{words[i]};
    if (name == "--rounds") o.rounds = std::atoi(words[i + 1]);
    if (name == "--seconds") o.seconds = std::atof(words[i + 1]);
    if (name == "--seed") o.seed = std::strtoull(words[i + 1], nullptr, 0);
    if (name == "--copy") o.copy = words[i + 1];
  }
  return o;
}

int left_in_shm() {
  int count = 0;
  if (DIR* shm = opendir("/dev/shm")) {
    while (const dirent* entry = readdir(shm))
      count += std::string_view{entry->d_name}.find("chorale") != std::string_view::npos ? 1 : 0;
    closedir(shm);
  }
  return count;
}

class loop {
 public:
  explicit loop(const options& o) : options_(o), generator_(o.seed) {
    for (int i = 0; i < 2; ++i) {
      survivors_.push_back(
          std::make_unique<child>([seed = o.seed, i](wire& line) { survive(line, seed, i); }));
      first_.push_back(survivors_.back()->line().receive<invitation>());
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const invitation& other = first_[1 - i];
      tell(i, {command::pair, {other.qpn, other.memory, other.rkey}, false});
    }
    for (std::size_t i = 0; i < 2; ++i) (void)hear(i);
  }

  void run() {
    const auto begun = clock_type::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(clock_type::now() - begun).count(); };
    int round = 0;
    std::vector<report> settled;
    std::vector<report> last;
    // Descriptors and memory are compared with the values after every path was taken once.
    const int warm = std::min(8, options_.rounds / 4);
    for (; round < options_.rounds && elapsed() < options_.seconds; ++round) {
      last = one_round();
      const auto members = members_of_fabric();
      expect(members == 2, fmt::format("round {}: {} names are left, not 2", round, members));
      if (round == warm) settled = last;
    }
    expect(left_in_shm() == 0, "something is left in /dev/shm");
    long growth = 0;
    for (std::size_t i = 0; i < settled.size(); ++i) {
      // The last victim's descriptors may not be closed yet.
      expect(last[i].descriptors <= settled[i].descriptors + 6,
             fmt::format("survivor {}: {} descriptors after {} rounds, {} after {}", i, last[i].descriptors,
                         round, settled[i].descriptors, warm));
      growth = std::max(growth, last[i].anonymous_kib - settled[i].anonymous_kib);
    }
    long lost = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      tell(i, {command::quit, {}, false});
      lost += hear(i).lost;
    }
    for (const auto& survivor : survivors_) survivor->line().send(char{1});
    for (const auto& survivor : survivors_) {
      const std::string end = survivor->join();
      expect(end.empty(), "the end of a survivor: " + end);
    }
    expect(members_of_fabric() == 0, "names are left after the end");
    fmt::print(
        "{} rounds in {:.1f} s: {} connected victims, {} messages and {} requests with them; memory grew by "
        "{} KiB; {} receives were in a victim's hands\n",
        round, elapsed(), connected_, last[0].received + last[1].received,
        last[0].completed + last[1].completed, growth, lost);
    // A dead peer keeps its entry, of about a KiB, and its range of addresses.
    expect(growth < 512 + 2L * round, "memory of a survivor grows");
  }

 private:
  std::vector<report> one_round() {
    const bool shared = generator_() % 2 == 0;
    std::vector<invitation> invitations;
    for (std::size_t i = 0; i < 2; ++i) tell(i, {command::begin, {}, shared});
    for (std::size_t i = 0; i < 2; ++i) invitations.push_back(survivors_[i]->line().receive<invitation>());
    const bool churns = generator_() % 4 == 0;
    child victim([seed = generator_(), churns](wire& line) { attack(line, seed, churns); });
    // A third of the victims die while joining and being introduced, the others afterwards.
    const bool early = generator_() % 3 == 0;
    const auto moment = clock_type::now() + std::chrono::microseconds(generator_() % 8000);
    if (!churns)
      introduce(victim, invitations, early ? moment : clock_type::now() + std::chrono::seconds{10});
    if (early)
      std::this_thread::sleep_until(moment);
    else
      usleep(static_cast<unsigned>(generator_() % 12'000));
    victim.kill();
    std::vector<report> seen;
    for (std::size_t i = 0; i < 2; ++i) tell(i, {command::dead, {}, false});
    for (std::size_t i = 0; i < 2; ++i) seen.push_back(hear(i));
    return seen;
  }

  /// Makes the connections that the victim requests before it is killed.
  void introduce(child& victim, const std::vector<invitation>& invitations, clock_type::time_point moment) {
    try {
      for (const invitation& each : invitations) victim.line().send(each);
      for (std::size_t i = 0; i < 2; ++i) {
        while (!victim.line().readable()) {
          if (clock_type::now() >= moment) return;
          usleep(50);
        }
        const auto its = victim.line().receive<address>();
        tell(i, {command::connect, its, false});
        (void)hear(i);
      }
      victim.line().send(char{1});
      ++connected_;
    } catch (const std::exception& e) {
      throw std::runtime_error(std::string("victim: ") + e.what());
    }
  }

  void tell(std::size_t i, const order& o) { survivors_[i]->line().send(o); }
  report hear(std::size_t i) {
    const auto r = survivors_[i]->line().receive<report>();
    if (!r.good) throw std::runtime_error(r.text);
    return r;
  }

  options options_;
  std::mt19937_64 generator_;
  std::vector<std::unique_ptr<child>> survivors_;
  std::vector<invitation> first_;
  int connected_ = 0;
};

}  // namespace

int main(int count, char** words) {
  const options o = read(count, words);
  // Large blocks separate from small ones, since holes in the heap would look like growth.
  mallopt(M_MMAP_THRESHOLD, 32 * 1024);
  fmt::print("kill_loop --seed {} --copy {}\n", o.seed, o.copy);
  std::fflush(stdout);
  setenv("CHORALE_SOFT_FABRIC", ("kill-" + std::to_string(getpid())).c_str(), 1);
  setenv("CHORALE_SOFT_COPY", o.copy.c_str(), 1);
  try {
    loop(o).run();
    return 0;
  } catch (const std::exception& e) {
    fmt::print("seed {}: {}\n", o.seed, e.what());
    return 1;
  }
}
