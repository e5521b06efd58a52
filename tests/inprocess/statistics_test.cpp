// SPDX-License-Identifier: Apache-2.0
// Statistics: calls, bytes and times, compared with the test's own counts.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <chorale/algorithm/allreduce/ring.hpp>
#include <chorale/plan.hpp>
#include <chorale/statistics.hpp>
#include <chorale/transport/ud.hpp>

#include "ranks.hpp"

using namespace inprocess;
using chorale::call_statistics;
using chorale::operation;

namespace {

/// A file of this test, removed at its end.
class scratch_file {
 public:
  scratch_file()
      : path_(std::filesystem::temp_directory_path() /
              ("chorale-statistics-" + std::to_string(getpid()) + "-" + std::to_string(++made) + ".csv")) {
    std::filesystem::remove(path_);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string name() const { return path_.string(); }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::ifstream file{path_};
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }

 private:
  static inline int made = 0;
  std::filesystem::path path_;
};

struct sums {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  bool operator==(const sums&) const = default;
};
using counts = std::map<std::pair<operation, bool>, sums>;

counts told(const call_statistics& all) {
  counts sum;
  for (const call_statistics::row& r : all.rows) {
    sums& its = sum[{r.what, r.is_nonblocking}];
    its.calls += r.calls;
    its.bytes += r.bytes;
    if (r.algorithm.empty()) throw std::runtime_error("a row without an algorithm");
    if (r.waited > r.time || r.time < chorale::clock::duration{})
      throw std::runtime_error("more waited than called");
    if (r.failures != 0) throw std::runtime_error("a failure is counted");
  }
  return sum;
}

/// Makes calls drawn by a seed, the same on all ranks; returns them.
template <class Comm>
counts make_calls(Comm& comm, std::uint64_t seed, int how_many) {
  std::mt19937_64 draw{seed};
  counts made;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto note = [&made](operation what, bool nonblocking, std::size_t bytes) {
    sums& its = made[{what, nonblocking}];
    ++its.calls;
    its.bytes += bytes;
  };
  for (int i = 0; i < how_many; ++i) {
    const std::size_t n = draw() % 50;
    const bool later = draw() % 3 == 0;
    std::vector<std::uint16_t> data(n);
    std::vector<std::uint16_t> all(n * ranks);
    switch (draw() % 4) {
      case 0:
        if (later)
          comm.ibarrier().wait();
        else
          comm.barrier();
        note(operation::barrier, later, 0);
        break;
      case 1: {
        const int root = static_cast<int>(draw() % ranks);
        if (later)
          comm.ibroadcast(data, chorale::root{root}).wait();
        else
          comm.broadcast(data, chorale::root{root});
        note(operation::broadcast, later, 2 * n);
        break;
      }
      case 2:
        if (later)
          comm.iallreduce(chorale::in_place, data, chorale::sum).wait();
        else
          comm.allreduce(chorale::in_place, data, chorale::sum);
        note(operation::allreduce, later, 2 * n);
        break;
      case 3:
        if (later) {
          auto plan = comm.plan_allgather(data, all);
          plan.start();
          plan.wait();
        } else {
          comm.allgather(data, all);
        }
        note(operation::allgather, later, 2 * n);
        break;
    }
  }
  return made;
}

chorale::config counting(const chorale::statistics_policy& to) {
  chorale::config c = settings();
  c.statistics = to;
  return c;
}

/// The fields of a line of comma-separated values (RFC 4180).
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      all.back() += line[++i];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      all.emplace_back();
    else
      all.back() += line[i];
  }
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("statistics count what was called", "[statistics]", chorale::transport::rc,
                   chorale::transport::ud) {
  for (const int size : {1, 2, 3, 5}) {
    const scratch_file file;
    run_ranks<chorale::communicator<TestType>>(
        size, counting(chorale::statistics_policy::to_file(file.name())), [&](auto& comm) {
          if (!comm.statistics().rows.empty()) throw std::runtime_error("there are rows before any call");
          comm.set_name("solver, \"first\"");
          const counts made = make_calls(comm, seed(), 200);
          const call_statistics all = comm.statistics();
          if (told(all) != made) throw std::runtime_error("other calls were counted:\n" + all.table());
          std::uint64_t calls = 0;
          for (const auto& [what, its] : made) calls += its.calls;
          if (all.total().calls != calls || calls != 200) throw std::runtime_error("the total is wrong");
          if (all.rank != comm.rank() || all.size != comm.size()) throw std::runtime_error("rank or size");
          if (!std::is_sorted(all.rows.begin(), all.rows.end(),
                              [](const auto& a, const auto& b) { return a.what < b.what; }))
            throw std::runtime_error("the rows are not sorted");
        });
    // One heading, then the rows of all ranks; each rank has made 200 calls.
    const auto lines = file.lines();
    REQUIRE(lines.size() > static_cast<std::size_t>(size));
    CHECK(lines[0].rfind("job,group,communicator,", 0) == 0);
    std::map<int, std::uint64_t> calls;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto row = fields(lines[i]);
      REQUIRE(row.size() == 15);
      CHECK(row[2] == "solver, \"first\"");
      CHECK(row[6] == std::to_string(size));
      calls[std::stoi(row[5])] += std::stoull(row[9]);
    }
    CHECK(calls.size() == static_cast<std::size_t>(size));
    for (const auto& [rank, its] : calls) CHECK(its == 200);
  }
}

TEST_CASE("statistics have a row for each algorithm, and count failures", "[statistics]") {
  const scratch_file file;
  run_ranks<chorale::communicator<chorale::allreduce::ring>>(
      3, counting(chorale::statistics_policy::to_file(file.name())), [](auto& comm) {
        std::vector<int> data(7);
        comm.allreduce(chorale::in_place, data, chorale::sum);
        comm.allreduce(chorale::in_place, data, chorale::sum);
        bool failed = false;
        try {
          comm.allreduce(chorale::in_place, data,
                         [](int, int) -> int { throw std::runtime_error("the operator's"); });
        } catch (const std::exception&) {
          failed = true;
        }
        const auto all = comm.statistics();
        if (!failed || all.rows.size() != 1 || all.rows[0].algorithm != "ring" || all.rows[0].calls != 3 ||
            all.rows[0].failures != 1 || all.rows[0].bytes != 84)
          throw std::runtime_error(all.table());
        if (all.table().find("allreduce          ring") == std::string::npos)
          throw std::runtime_error(all.table());
      });
  // A failed communicator also writes its statistics.
  CHECK(file.lines().size() == 4);
}

TEST_CASE("reading statistics that are off is an error that says how to enable them", "[statistics]") {
  run_ranks<chorale::communicator<>>(2, counting(chorale::statistics_policy::off()), [](auto& comm) {
    comm.barrier();
    refused(chorale::errc::misuse, {"CHORALE_STATISTICS=1"}, [&] { (void)comm.statistics(); });
  });
}

TEST_CASE("statistics in a nonexistent folder are rejected at joining", "[statistics]") {
  std::mutex mutex;
  std::vector<std::string> said;
  run_anywhere(2, [&](support::any_group& group) {
    try {
      chorale::communicator<> comm{group,
                                   counting(chorale::statistics_policy::to_file("/no/such/folder/file.csv"))};
    } catch (const chorale::error& e) {
      const std::lock_guard hold{mutex};
      said.emplace_back(e.what());
    }
  });
  REQUIRE(said.size() == 2);
  for (const auto& text : said) {
    CHECK(text.find("CHORALE_STATISTICS") != std::string::npos);
    CHECK(text.find("/no/such/folder/file.csv") != std::string::npos);
  }
}
