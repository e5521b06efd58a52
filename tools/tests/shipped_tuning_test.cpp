// SPDX-License-Identifier: Apache-2.0
// The shipped tuning table, as a communicator reads it: it is complete, names existing algorithms, and agrees
// with the simulation.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/config.hpp>
#include <chorale/model/tuning.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../sim-scale/models.hpp"

namespace {

using chorale::operation;
using chorale::model::tuning_table;

const tuning_table& shipped() {
  chorale::config settings;
  settings.tuning = CHORALE_SHIPPED_TUNING;
  return *tuning_table::of(settings);
}

/// The names of all algorithms that can be simulated, by operation.
std::map<operation, std::set<std::string>> known() {
  std::map<operation, std::set<std::string>> names;
  for (const auto& one : sim_scale::candidates()) names[one.what].insert(one.name);
  return names;
}

/// The algorithms of an operation in a table, by ranks and bytes, on groups without places.
using points = std::map<std::pair<int, std::size_t>, std::set<std::string>>;
std::map<operation, points> by_operation(const tuning_table& table) {
  std::map<operation, points> all;
  for (const auto& row : table.rows())
    if (row.places == 1) all[row.what][{row.ranks, row.bytes}].insert(row.algorithm);
  return all;
}

}  // namespace

TEST_CASE("The shipped table knows no algorithm that does not exist", "[tuning]") {
  const auto names = known();
  for (const auto& row : shipped().rows()) {
    INFO(chorale::name(row.what) << ' ' << row.algorithm);
    REQUIRE(names.count(row.what) == 1);
    REQUIRE(names.at(row.what).count(row.algorithm) == 1);
    REQUIRE(row.transport == "rc");
    REQUIRE_FALSE(row.crowded);
    REQUIRE(row.microseconds > 0);
  }
}

TEST_CASE("The shipped table has each operation, and on two ranks each algorithm", "[tuning]") {
  const auto table = by_operation(shipped());
  for (auto [what, names] : known()) {
    INFO(chorale::name(what));
    REQUIRE(table.count(what) == 1);
    // An algorithm that is newer than the table is missing in it, and never chosen.
    std::set<std::string> measured;
    for (const auto& [where, found] : table.at(what)) measured.insert(found.begin(), found.end());
    std::erase_if(names, [&](const std::string& one) { return measured.count(one) == 0; });
    REQUIRE_FALSE(names.empty());
    const auto sizes = what == operation::barrier ? std::vector<std::size_t>{0}
                                                  : std::vector<std::size_t>{8, 1024, 16384, 262144};
    for (const std::size_t bytes : sizes) {
      REQUIRE(table.at(what).count({2, bytes}) == 1);
      INFO("2 ranks, " << bytes << " bytes");
      CHECK(table.at(what).at({2, bytes}) == names);
      // On more ranks, slow algorithms are omitted.
      for (const int ranks : {3, 4, 8, 16, 32}) {
        INFO(ranks << " ranks, " << bytes << " bytes");
        CHECK(table.at(what).count({ranks, bytes}) == 1);
      }
    }
  }
}

TEST_CASE("The shipped table goes to a thousand ranks where each has something for each", "[tuning]") {
  const auto table = by_operation(shipped());
  for (const auto what : {operation::allgather, operation::alltoall, operation::reduce_scatter}) {
    INFO(chorale::name(what));
    for (const int ranks : {64, 128, 256, 512, 1024})
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, std::size_t{16384}}) {
        INFO(ranks << " ranks, " << bytes << " bytes");
        CHECK(table.at(what).count({ranks, bytes}) == 1);
      }
  }
}

TEST_CASE("The shipped table goes to many thousands of ranks where each sends to few", "[tuning]") {
  const auto table = by_operation(shipped());
  const std::map<operation, int> most{{operation::barrier, 65536}, {operation::broadcast, 65536},
                                      {operation::reduce, 65536},  {operation::gather, 16384},
                                      {operation::scatter, 16384}, {operation::scan, 16384},
                                      {operation::allreduce, 4096}};
  for (const auto& [what, ranks] : most) {
    INFO(chorale::name(what) << " on " << ranks << " ranks");
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{16384}})
      CHECK(table.at(what).count({ranks, what == operation::barrier ? 0 : bytes}) == 1);
  }
}

TEST_CASE("The shipped table has each operation on places", "[tuning]") {
  std::map<operation, std::set<std::pair<int, int>>> groups;
  for (const auto& row : shipped().rows())
    if (row.places > 1) groups[row.what].insert({row.places, row.largest});
  for (const auto& [what, names] : known()) {
    INFO(chorale::name(what));
    for (const int places : {2, 4, 8, 16})
      for (const int each : {4, 16, 64}) {
        if (places * each > 512) continue;
        INFO(places << " places of " << each);
        CHECK(groups[what].contains({places, each}));
      }
  }
}

TEST_CASE("The shipped table says what a simulation says", "[tuning]") {
  struct point {
    int ranks;
    std::size_t bytes;
    int places;
  };
  const auto rows = shipped().rows();
  for (const auto& [ranks, bytes, places] :
       {point{8, 1024, 1}, point{64, 8, 1}, point{3, 16384, 1}, point{6, 262144, 1}, point{16, 8, 4},
        point{64, 1024, 4}, point{8, 16384, 2}, point{64, 8, 16}}) {
    // As `tools/tune-simulated` makes it: where there are no places, each rank has a host.
    auto on = chorale::simulation::read_machine("hdr-64core");
    on.ranks_per_host = places == 1 ? 1 : ranks / places;
    std::set<operation> compared;
    for (const auto& one : sim_scale::candidates()) {
      const std::size_t size = one.what == operation::barrier ? 0 : bytes;
      for (const auto& row : rows) {
        if (row.what != one.what || row.algorithm != one.name || row.ranks != ranks || row.bytes != size ||
            row.places != places)
          continue;
        compared.insert(one.what);
        INFO(chorale::name(one.what) << ' ' << one.name << " on " << ranks << " ranks in " << places
                                     << " places, " << size
                                     << " bytes; tools/README.md says how to remake the table");
        const double now =
            static_cast<double>(one.by_ghosts(on, ranks, {size}, 2).front().time.count()) / 1e6;
        // The table is rounded to nanoseconds. A few bytes more in the announcement of a region shift a row
        // by a few nanoseconds, and change no choice.
        CHECK(row.microseconds == Approx(now).epsilon(5e-5).margin(0.00051));
      }
    }
    INFO(ranks << " ranks in " << places << " places, " << bytes << " bytes");
    CHECK(compared.size() == known().size());
  }
}
