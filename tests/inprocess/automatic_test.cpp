// SPDX-License-Identifier: Apache-2.0
// The choice among algorithms: the same result with every choice, the same choice on all ranks, and its
// reasons.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../support/collectives/checks.hpp"
#include "../support/reads_json.hpp"
#include "ranks.hpp"

using namespace collectives;
using chorale::operation;

namespace {

using chosen_among = chorale::communicator<
    chorale::transport::rc,
    chorale::automatic<chorale::allreduce::recursive_doubling, chorale::allreduce::reproducible,
                       chorale::allreduce::rabenseifner, chorale::allreduce::ring>,
    chorale::automatic<chorale::barrier::central, chorale::barrier::dissemination>>;

/// A tuning table for 3 ranks with a different winner for each size; its file is removed with the object.
struct table_file {
  explicit table_file(const char* suffix, double ring_us)
      : name(std::filesystem::temp_directory_path() /
             ("chorale-automatic-" + std::to_string(getpid()) + suffix)) {
    std::ofstream out{name};
    out << R"({"tuning": [)";
    const char* names[] = {"recursive_doubling", "reproducible", "rabenseifner"};
    for (int i = 0; i < 3; ++i) {
      for (const char* crowded : {"true", "false"}) {
        out << R"({"operation": "allreduce", "transport": "rc", "ranks": 3, "crowded": )" << crowded
            << R"(, "bytes": )" << (100 << 5 * i) << R"(, "microseconds": {)";
        for (const char* scope : {"", "telling::"}) {
          for (int k = 0; k < 3; ++k) out << '"' << scope << names[k] << "\": " << (k == i ? 1 : 5) << ", ";
        }
        out << R"("ring": )" << ring_us << "}},";
      }
    }
    out.seekp(-1, std::ios::cur);
    out << "]}";
  }
  ~table_file() { std::filesystem::remove(name); }
  std::filesystem::path name;
};

/// A file with the rows of the built-in table.
struct copy_of_built_in {
  copy_of_built_in()
      : name(std::filesystem::temp_directory_path() /
             ("chorale-automatic-" + std::to_string(getpid()) + "-same.json")) {
    std::ofstream out{name};
    const char* separator = R"({"tuning": [)";
    for (const auto& row : chorale::model::tuning_table::built_in()->rows()) {
      out << std::exchange(separator, ",\n")
          << fmt::format(
                 R"({{"operation": "{}", "transport": "{}", "ranks": {}, "crowded": {}, "bytes": {}, )"
                 R"("places": {}, "largest": {}, "microseconds": {{"{}": {}}}}})",
                 chorale::name(row.what), row.transport, row.ranks, row.crowded, row.bytes, row.places,
                 row.largest, row.algorithm, row.microseconds);
    }
    out << "]}";
  }
  copy_of_built_in(const copy_of_built_in&) = delete;
  copy_of_built_in& operator=(const copy_of_built_in&) = delete;
  ~copy_of_built_in() { std::filesystem::remove(name); }
  std::filesystem::path name;
};

/// What the error says if only rank 0 has these settings. Fails the test unless it is of a mismatch.
std::string complaint_if_alone(const std::function<void(chorale::config&)>& set,
                               const chorale::config& common = inprocess::settings()) {
  try {
    inprocess::run_anywhere(2, [&](auto& group) {
      auto settings = common;
      if (group.rank() == 0) set(settings);
      chosen_among comm{group, settings};
    });
  } catch (const chorale::error& e) {
    CHECK(e.code() == chorale::errc::mismatch);
    return e.what();
  }
  return "none";
}

}  // namespace

/// Algorithms of the table that record which of them has run.
namespace telling {
/// By rank: several ranks may share a thread.
inline std::array<int, 8> last{};

template <int Number, class Algorithm>
struct one : Algorithm {
  static chorale::task<> run(auto& net, chorale::call_id now, std::span<std::byte> data,
                             chorale::reduction op) {
    last[static_cast<std::size_t>(net.rank())] = Number;
    return chorale::start<Algorithm>(net, now, std::span<const std::byte>{data}, data, op);
  }
};
struct recursive_doubling : one<0, chorale::allreduce::recursive_doubling> {};
struct reproducible : one<1, chorale::allreduce::reproducible> {};
struct rabenseifner : one<2, chorale::allreduce::rabenseifner> {};
struct ring : one<3, chorale::allreduce::ring> {};  // in no table
}  // namespace telling

TEST_CASE("the algorithm that runs is the fastest in the table", "[automatic]") {
  if (!support::reads_json()) return;
  using deciding = chorale::communicator<
      chorale::transport::rc,
      chorale::automatic<telling::reproducible, telling::recursive_doubling, telling::rabenseifner>>;
  const table_file table{".json", 9};
  auto settings = inprocess::settings();
  settings.tuning = table.name;
  inprocess::run_ranks<deciding>(3, settings, [](deciding& comm) {
    // The limits are the geometric means of 100, 3200 and 102400 bytes.
    for (const auto& [bytes, winner] : std::initializer_list<std::pair<std::size_t, int>>{
             {1, 0}, {565, 0}, {566, 1}, {3200, 1}, {18101, 1}, {18102, 2}, {500'000, 2}}) {
      std::vector<std::uint8_t> data(bytes, 1);
      comm.allreduce(chorale::in_place, std::span{data}, chorale::sum);
      if (const int served = telling::last[static_cast<std::size_t>(comm.rank())]; served != winner)
        throw wrong(std::to_string(served) + " served " + std::to_string(bytes) + " bytes, not " +
                    std::to_string(winner));
      if (data.back() != 3) throw wrong("the sum of " + std::to_string(bytes) + " bytes");
    }
  });
}

TEST_CASE("every choice gives the same result", "[automatic]") {
  if (!support::reads_json()) return;
  const table_file table{".json", 9};
  auto settings = inprocess::settings();
  settings.tuning = table.name;
  for (const int ranks : {1, 2, 3, 5}) {
    inprocess::run_ranks<chosen_among>(ranks, settings, [](chosen_among& comm) {
      std::uint64_t seed = 5;
      for (const std::size_t bytes :
           std::initializer_list<std::size_t>{0, 8, 100, 1000, 3200, 20000, 102400, 300000}) {
        check_allreduce<triangle>(comm, bytes / sizeof(triangle), multiply{}, ++seed);
        check_allreduce<std::uint64_t>(comm, bytes / 8, chorale::sum, ++seed, {.nonblocking = true});
        check_barrier(comm);
      }
    });
  }
}

TEST_CASE("a communicator says what it chooses and why", "[automatic]") {
  if (!support::reads_json()) return;
  const table_file table{".json", 9};
  auto settings = inprocess::settings();
  settings.tuning = table.name;
  inprocess::run_ranks<chosen_among>(3, settings, [&](chosen_among& comm) {
    const auto require = [&](std::size_t bytes, const char* algorithm) {
      const auto why = comm.explain(operation::allreduce, bytes);
      if (why.find(algorithm) == std::string::npos || why.find(table.name.string()) == std::string::npos)
        throw wrong("for " + std::to_string(bytes) + " bytes: " + why);
    };
    require(0, ": recursive_doubling: ");
    require(100, ": recursive_doubling: ");
    require(3200, ": reproducible: ");
    require(1 << 30, ": rabenseifner: ");
    if (comm.explain(operation::exchange, 8).find("composed of it") == std::string::npos)
      throw wrong(comm.explain(operation::exchange, 8));
    if (comm.explain(operation::barrier).find("formula") == std::string::npos)
      throw wrong(comm.explain(operation::barrier));
    for (const auto& [what, uneven] : {std::pair{operation::allgatherv, ": ring: "},
                                       {operation::alltoallv, ": pairwise: "},
                                       {operation::gatherv, ": flat: "},
                                       {operation::scatterv, ": flat: "}})
      if (comm.explain(what, 8).find(uneven) == std::string::npos) throw wrong(comm.explain(what, 8));
    if (comm.explain(operation::exscan, 8).find("exscan of 8 bytes") == std::string::npos)
      throw wrong(comm.explain(operation::exscan, 8));
    if (comm.explain(operation::split).find("no algorithm") == std::string::npos)
      throw wrong(comm.explain(operation::split));
  });
}

TEST_CASE("the default takes wide trees for a broadcast on adapters only", "[automatic]") {
  inprocess::run_ranks<chorale::communicator<>>(16, inprocess::settings(), [](chorale::communicator<>& comm) {
    const auto why = comm.explain(operation::broadcast, 8);
    const bool takes = why.find(": knomial<4>: ") != std::string::npos;
    const bool names = why.find("knomial<4>") != std::string::npos;
    const auto& net = comm.transport();
    if (names != net.is_on_adapter() || takes != (names && !net.oversubscribed())) throw wrong(why);
  });
}

TEMPLATE_TEST_CASE("algorithms by places serve transports without lanes, if alone", "[automatic]",
                   chorale::transport::ud, chorale::transport::rc_send_receive) {
  using namespace chorale::allreduce;
  using by_places = chorale::communicator<
      TestType, chorale::automatic<
                    two_level<chorale::reduce::degree_k<3>, recursive_doubling, chorale::broadcast::binomial>,
                    two_level<chorale::reduce::degree_k<1>, recursive_doubling, chorale::broadcast::flat>>>;
  inprocess::run_ranks<by_places>(3, inprocess::settings(), [](by_places& comm) {
    const auto why = comm.explain(operation::allreduce, 56);
    if (why.find(": two_level<") == std::string::npos) throw wrong(why);
    for (std::uint64_t seed = 0; seed < 40; ++seed) check_allreduce<triangle>(comm, 7, multiply{}, seed);
  });
}

TEST_CASE("an algorithm that was not measured is named, and is not another one of its name", "[automatic]") {
  if (!support::reads_json()) return;
  using deciding =
      chorale::communicator<chorale::transport::rc, chorale::automatic<telling::ring, telling::reproducible,
                                                                       chorale::allreduce::ring>>;
  const table_file table{"-ring.json", 0.5};  // a process reads a file only once
  auto settings = inprocess::settings();
  settings.tuning = table.name;
  inprocess::run_ranks<deciding>(3, settings, [](deciding& comm) {
    const auto why = comm.explain(operation::allreduce, 100);
    if (why.find(": ring: ring 0.5 us") == std::string::npos) throw wrong(why);
    if (why.find("not measured: telling::ring") == std::string::npos) throw wrong(why);
    auto& last = telling::last[static_cast<std::size_t>(comm.rank())];
    last = -1;
    std::vector<std::uint8_t> data(100, 1);
    comm.allreduce(chorale::in_place, std::span{data}, chorale::sum);
    if (last != -1) throw wrong("what was not measured was chosen");
  });
}

TEST_CASE("algorithms are tried in turn, and then all ranks keep to one", "[automatic]") {
  using trying = chorale::communicator<
      chorale::transport::rc,
      chorale::automatic<telling::reproducible, telling::recursive_doubling, telling::rabenseifner>>;
  for (const auto policy : {chorale::trial_policy::automatic, chorale::trial_policy::all}) {
    for (const int ranks : {2, 3, 5, 8}) {
      auto settings = inprocess::settings();
      settings.trials = policy;
      std::array<int, 8> kept{};
      inprocess::run_ranks<trying>(ranks, settings, [&](trying& comm) {
        const auto mine = static_cast<std::size_t>(comm.rank());
        std::set<int> served;
        std::uint64_t seed = 11;
        const auto is_over = [&](std::size_t bytes) {
          return comm.explain(operation::allreduce, bytes).find("in a trial of ") != std::string::npos;
        };
        // Two sizes with separate trials, some calls nonblocking.
        for (int i = 0; !is_over(40) || !is_over(24000); ++i) {
          if (i == 10'000) throw wrong("a trial does not end: " + comm.explain(operation::allreduce, 40));
          check_allreduce<std::uint64_t>(comm, 5, chorale::sum, ++seed, {.nonblocking = i % 5 == 4});
          served.insert(telling::last[mine]);
          check_allreduce<std::uint64_t>(comm, 3000, chorale::bitwise_xor, ++seed);
          served.insert(telling::last[mine]);
        }
        if (served.size() != 3) throw wrong(std::to_string(served.size()) + " algorithms served");
        for (int i = 0; i < 10; ++i) {
          check_allreduce<std::uint64_t>(comm, 5, chorale::sum, ++seed);
          if (i == 0) kept[mine] = telling::last[mine];
          if (telling::last[mine] != kept[mine]) throw wrong("it changed after the trial");
        }
      });
      for (int r = 1; r < ranks; ++r) CHECK(kept[static_cast<std::size_t>(r)] == kept[0]);
    }
  }
}

TEST_CASE("nonblocking calls made during a trial and run after it use its result", "[automatic]") {
  using trying =
      chorale::communicator<chorale::transport::rc,
                            chorale::automatic<telling::reproducible, telling::recursive_doubling>>;
  inprocess::run_ranks<trying>(3, inprocess::settings(), [](trying& comm) {
    constexpr std::size_t calls = 250;
    std::vector<std::uint32_t> data(calls, static_cast<std::uint32_t>(comm.rank() + 1));
    std::vector<chorale::request> all;
    for (std::size_t i = 0; i < calls; ++i) {
      // Rank 1 makes some of these calls blocking.
      if (comm.rank() == 1 && i % 7 == 3)
        comm.allreduce(chorale::in_place, std::span{&data[i], 1}, chorale::sum);
      else
        all.push_back(comm.iallreduce(chorale::in_place, std::span{&data[i], 1}, chorale::sum));
    }
    chorale::wait_all(all);
    for (const auto found : data)
      if (found != 6) throw wrong("a sum is " + std::to_string(found));
  });
}

TEST_CASE("results whose bits depend on the order of evaluation do not depend on trials", "[automatic]") {
  // The first is the table's choice, the last one evaluates in a different order.
  using trying = chorale::communicator<
      chorale::transport::rc,
      chorale::automatic<telling::recursive_doubling, telling::rabenseifner, telling::reproducible>>;
  for (const auto policy : {chorale::trial_policy::automatic, chorale::trial_policy::all}) {
    auto settings = inprocess::settings();
    settings.trials = policy;
    inprocess::run_ranks<trying>(5, settings, [&](trying& comm) {
      std::set<int> served;
      std::set<double> sums;
      for (int i = 0; i < 200; ++i) {
        double value = comm.rank() == 3 ? 1e16 : 1.0 + comm.rank();
        comm.allreduce(chorale::in_place, std::span{&value, 1}, chorale::sum);
        served.insert(telling::last[static_cast<std::size_t>(comm.rank())]);
        sums.insert(value);
        // A trial of other calls of this size, whose bits do not depend on the order, does not affect these
        // calls.
        std::uint64_t number = 1;
        comm.allreduce(chorale::in_place, std::span{&number, 1}, chorale::sum);
      }
      if (policy == chorale::trial_policy::all) {
        if (served.size() != 3) throw wrong(std::to_string(served.size()) + " algorithms served");
        if (sums.size() == 1) throw wrong("these operands do not tell brackets apart");
      } else {
        if (served != std::set{0, 2}) throw wrong("the wrong algorithms served");
        if (sums.size() != 1) throw wrong("sums differ");
      }
    });
  }
}

TEST_CASE("without trials, and with a user's table, the table decides", "[automatic]") {
  if (!support::reads_json()) return;
  using deciding =
      chorale::communicator<chorale::transport::rc,
                            chorale::automatic<telling::reproducible, telling::recursive_doubling>>;
  const table_file table{"-own.json", 9};
  for (const bool own : {false, true}) {
    auto settings = inprocess::settings();
    if (own)
      settings.tuning = table.name;
    else
      settings.trials = chorale::trial_policy::off;
    inprocess::run_ranks<deciding>(3, settings, [](deciding& comm) {
      std::set<int> served;
      for (int i = 0; i < 100; ++i) {
        std::uint64_t number = 1;
        comm.allreduce(chorale::in_place, std::span{&number, 1}, chorale::sum);
        served.insert(telling::last[static_cast<std::size_t>(comm.rank())]);
      }
      if (served.size() != 1) throw wrong(std::to_string(served.size()) + " algorithms served");
    });
  }
}

TEST_CASE("ranks with different tables are refused", "[automatic]") {
  if (!support::reads_json()) return;
  const table_file one{"-1.json", 9};
  const table_file other{"-2.json", 8};
  auto common = inprocess::settings();
  common.tuning = other.name;
  const auto complaint =
      complaint_if_alone([&](chorale::config& settings) { settings.tuning = one.name; }, common);
  CHECK(complaint.find("tuning table differs") != std::string::npos);
  CHECK(complaint.find("CHORALE_TUNING") != std::string::npos);
}

TEST_CASE("ranks are refused if a setting that decides is set on one of them, though it changes no value",
          "[automatic]") {
  auto common = inprocess::settings();
  common.zero_copy_bytes = 4096;
  const auto complaint =
      complaint_if_alone([](chorale::config& settings) { settings.alltoall_zero_copy_bytes = 4096; }, common);
  INFO(complaint);
  CHECK(complaint.find("config::alltoall_zero_copy_bytes differs between ranks") != std::string::npos);
  // Either rank may report it.
  CHECK(complaint.find("4096 on rank 0") != std::string::npos);
  CHECK(complaint.find("unset on rank 1") != std::string::npos);
  if (!support::reads_json()) return;
  const copy_of_built_in same;
  REQUIRE(chorale::model::tuning_table::read(same.name)->fingerprint() ==
          chorale::model::tuning_table::built_in()->fingerprint());
  CHECK(complaint_if_alone([&](chorale::config& settings) {
          settings.tuning = same.name;
        }).find("tuning table differs") != std::string::npos);
}
