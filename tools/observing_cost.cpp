// SPDX-License-Identifier: Apache-2.0
// Prints a table of the cost of counting and of tracing calls of two ranks, which are threads.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../lib/core/printable.hpp"

namespace {

using comm_type = chorale::communicator<>;

constexpr int rounds = 31;

struct measured_call {
  const char* name;
  std::size_t bytes;
  std::function<void(comm_type&)> make;
};

/// Nanoseconds of a call on each communicator: the median of several rounds, in which they alternate, so that
/// disturbances affect all alike.
std::array<double, 3> medians(const std::array<comm_type*, 3>& comms, const measured_call& what) {
  std::array<std::vector<double>, 3> took;
  // Enough for each round to have its share of what a trace writes to its file.
  const int calls = what.bytes > 4096 ? 2000 : 20000;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < comms.size(); ++k) {
      comms[k]->barrier();
      const auto begin = chorale::clock::now();
      for (int i = 0; i < calls; ++i) what.make(*comms[k]);
      comms[k]->barrier();
      const std::chrono::duration<double, std::nano> all = chorale::clock::now() - begin;
      took[k].push_back(all.count() / calls);
    }
  }
  std::array<double, 3> middle{};
  for (std::size_t k = 0; k < comms.size(); ++k) {
    std::nth_element(took[k].begin(), took[k].begin() + rounds / 2, took[k].end());
    middle[k] = took[k][rounds / 2];
  }
  return middle;
}

void measure(const std::array<comm_type*, 3>& comms) {
  std::vector<double> one(1);
  std::vector<double> two(2);
  std::vector<double> long_one(8192);
  std::vector<double> long_two(16384);
  const std::vector<measured_call> all{
      {"barrier", 0, [](comm_type& comm) { comm.barrier(); }},
      {"broadcast", 8, [&](comm_type& comm) { comm.broadcast(one, chorale::root{0}); }},
      {"allreduce", 8, [&](comm_type& comm) { comm.allreduce(chorale::in_place, one, chorale::sum); }},
      {"allgather", 8, [&](comm_type& comm) { comm.allgather(one, two); }},
      {"broadcast", 65536, [&](comm_type& comm) { comm.broadcast(long_one, chorale::root{0}); }},
      {"allreduce", 65536,
       [&](comm_type& comm) { comm.allreduce(chorale::in_place, long_one, chorale::sum); }},
      {"allgather", 65536, [&](comm_type& comm) { comm.allgather(long_one, long_two); }}};
  const bool speaks = comms[0]->rank() == 0;
  if (speaks) chorale::say(stdout, "| call | bytes | ns | statistics | trace |\n|---|---:|---:|---:|---:|\n");
  for (const measured_call& what : all) {
    const auto [off, counted, traced] = medians(comms, what);
    const auto more = [off = off](double on) {
      return fmt::format("{:+.0f} ns, {:+.0f} %", on - off, 100 * (on - off) / off);
    };
    if (speaks)
      chorale::say(stdout, "| {} | {} | {:.0f} | {} | {} |\n", what.name, what.bytes, off, more(counted),
                   more(traced));
  }
}

}  // namespace

int main() {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("observing-cost-{}.json", getpid());
  auto off = chorale::config::from_environment();
  off.device = "soft0";
  off.trials = chorale::trial_policy::off;
  chorale::config counted = off;
  counted.statistics = chorale::statistics_policy::to_file(file.string() + ".csv");
  chorale::config traced = off;
  traced.trace = file.string();
  traced.trace_records = 1'000'000'000;
  chorale::bootstrap::run_in_process(2, [&](auto& group) {
    comm_type plain{group, off};
    comm_type with_counts{group, counted};
    comm_type with_trace{group, traced};
    measure({&plain, &with_counts, &with_trace});
  });
  std::filesystem::remove(file);
  for (const auto& beside : std::filesystem::directory_iterator(file.parent_path()))
    if (beside.path().string().starts_with(file.string() + '.')) std::filesystem::remove_all(beside.path());
  std::filesystem::remove(*counted.statistics.file());
}
