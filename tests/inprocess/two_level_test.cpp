// SPDX-License-Identifier: Apache-2.0
// Algorithms of two levels, over soft0 within a place and another device between places.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <span>
#include <string>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include <chorale/chorale.hpp>

#include "../support/collectives/checks.hpp"
#include "../support/reads_json.hpp"
#include "beside_adapter.hpp"
#include "ranks.hpp"
#include "slots.hpp"

using namespace inprocess;
using namespace collectives;
namespace barrier = chorale::barrier;
namespace broadcast = chorale::broadcast;
namespace reduce = chorale::reduce;
namespace allreduce = chorale::allreduce;
namespace allgather = chorale::allgather;
namespace gather = chorale::gather;
namespace scan = chorale::scan;

namespace {

/// Algorithms over mapped memory run within a place.
using mapping =
    chorale::communicator<chorale::transport::rc,
                          barrier::two_level<barrier::last_arriver, barrier::dissemination>,
                          broadcast::two_level<broadcast::last_arriver, broadcast::binomial>,
                          reduce::two_level<reduce::degree_k<3>, reduce::degree_k<1>>,
                          allreduce::two_level<allreduce::last_arriver, allreduce::recursive_multiplying<8>,
                                               broadcast::last_arriver>,
                          allgather::two_level<gather::flat, allgather::ring, broadcast::last_arriver>,
                          scan::two_level<scan::chain, scan::recursive_doubling, broadcast::last_arriver>>;

/// All ranks of a place communicate with other places.
using multi_object =
    chorale::communicator<chorale::transport::rc, barrier::multi_object<barrier::last_arriver>,
                          broadcast::multi_object<broadcast::last_arriver>,
                          allreduce::multi_object<allreduce::last_arriver, broadcast::last_arriver>,
                          chorale::alltoall::multi_object<chorale::alltoall::pairwise>>;

/// A tuning table by which gathers, allreduces and alltoalls go by places if the group has some. Its file is
/// removed with the object.
struct by_places_file {
  by_places_file() {
    struct known {
      const char* operation;
      const char* by_places;
      const char* flat;
    };
    std::ofstream out{name};
    const char* between = R"({"tuning": [)";
    for (const auto& [operation, by_places, flat] :
         {known{"gather", "two_level<flat, flat>", "binomial"},
          known{"allreduce", "multi_object<recursive_multiplying<4>, binomial>", "recursive_doubling"},
          known{"alltoall", "multi_object<direct>", "bruck"}})
      for (const char* crowded : {"true", "false"})
        for (const bool has_places : {true, false})
          out << std::exchange(between, ", ") << R"({"operation": ")" << operation
              << R"(", "transport": "rc", "ranks": 6, "crowded": )" << crowded
              << (has_places ? R"(, "places": 2, "largest": 3)" : "") << R"(, "bytes": 8, "microseconds": {")"
              << by_places << "\": " << (has_places ? 1 : 3) << ", \"" << flat << "\": 2}}";
    out << "]}";
  }
  ~by_places_file() { std::filesystem::remove(name); }
  std::filesystem::path name =
      std::filesystem::temp_directory_path() / ("chorale-places-" + std::to_string(getpid()) + ".json");
};

/// Claims that the order of operands does not matter, although it does, so that the result reveals the order.
struct claims_to_commute : multiply {
  static constexpr bool commutes = true;
};

template <class Comm>
void check_calls(Comm& comm) {
  std::uint64_t s = seed();
  const auto vary = [&s] {
    const std::uint64_t n = mixed(++s);
    return manner{.nonblocking = n % 3 == 0, .in_place = n % 2 == 0, .misalignment = n / 64 % 24};
  };
  for (int i = 0; i < 20; ++i) check_barrier(comm, vary());
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
    for (int root = 0; root < comm.size(); ++root) {
      check_broadcast<std::byte>(comm, count, root, s, vary());
      check_reduce<triangle>(comm, count, root, multiply{}, s, vary());
      check_reduce<std::uint64_t>(comm, count, root, chorale::sum, s, vary());
      check_gather<std::uint32_t>(comm, count, root, s, vary());
      check_scatter<std::uint32_t>(comm, count, root, s, vary());
      check_gatherv<std::uint32_t>(comm, count, root, s, vary());
      check_scatterv<std::uint32_t>(comm, count, root, s, vary());
    }
    check_allreduce<triangle>(comm, count, multiply{}, s, vary());
    check_allreduce<std::uint64_t>(comm, count, chorale::sum, s, vary());
    for (const bool inclusive : {true, false})
      check_scan<triangle>(comm, count, multiply{}, inclusive, s, vary());
    check_reduce_scatter<triangle>(comm, count, multiply{}, s, vary());
    check_alltoall<std::uint32_t>(comm, count, s, vary());
    check_alltoallv<std::uint32_t>(comm, count, s, vary());
    check_allgather<std::uint32_t>(comm, count, s, vary());
    check_allgatherv<std::uint32_t>(comm, count, s, vary());
  }
}

}  // namespace

TEST_CASE("algorithms of two levels compute their operations in any places", "[two_level]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  struct layout {
    const char* places;
    int size;
  };
  for (const auto& [places, size] : {layout{"2x2", 4}, layout{"1,3,1", 5}, layout{"2x3c", 6},
                                     layout{"4,1,2", 7}, layout{"4x1", 4}, layout{"", 3}}) {
    if (too_large(size)) continue;
    for (const std::size_t zero_copy : {std::size_t{1000}, std::size_t{1} << 30}) {
      auto c = with_places(places);
      c.zero_copy_bytes = zero_copy;
      run_beside_adapter<mapping>(size, c, [](mapping& comm) { check_calls(comm); });
      run_beside_adapter<multi_object>(size, c, [](multi_object& comm) { check_calls(comm); });
    }
  }
}

TEST_CASE("the default goes by places where a table says so, and tries what goes by places", "[two_level]") {
  if (left_out_in_virtual_time("it has no soft0") || !support::reads_json()) return;
  const by_places_file table;
  for (const bool has_lanes : {true, false}) {
    for (const auto policy : {chorale::trial_policy::off, chorale::trial_policy::all}) {
      auto c = with_places("3,2");
      c.near = has_lanes ? chorale::near_policy::automatic : chorale::near_policy::off;
      c.tuning = table.name;
      c.trials = policy;
      run_beside_adapter(5, c, [&](chorale::communicator<>& comm) {
        const auto why = comm.explain(chorale::operation::gather, 8);
        expect(has_lanes == (why.find("two_level<flat, flat>: ") != std::string::npos), why);
        expect(has_lanes == (why.find("measured on 6 ranks in 2 places over rc") != std::string::npos), why);
        check_calls(comm);
      });
    }
  }
}

TEST_CASE("the default takes an alltoall by places only where enough ranks speak", "[two_level]") {
  if (left_out_in_virtual_time("it has no soft0") || !support::reads_json()) return;
  const by_places_file table;
  for (const auto& [places, size, speak] : {std::tuple{"3x2", 6, true},
                                            {"2x2", 4, true},
                                            {"2x3", 6, false},
                                            {"1,3,3", 7, false},
                                            {"2,3,2", 7, true}}) {
    auto c = with_places(places);
    c.tuning = table.name;
    run_beside_adapter(size, c, [&, speak = speak](chorale::communicator<>& comm) {
      const auto why = comm.explain(chorale::operation::alltoall, 8);
      expect(speak == (why.find(": multi_object<direct>: ") != std::string::npos), why);
      check_alltoall<std::uint32_t>(comm, 5, seed());
    });
  }
}

TEST_CASE("the default keeps the order of operands in any places", "[two_level]") {
  if (left_out_in_virtual_time("it has no soft0") || !support::reads_json()) return;
  const by_places_file table;
  for (const char* places : {"2x3", "2x3c"}) {
    auto c = with_places(places);
    c.tuning = table.name;
    run_beside_adapter(6, c, [&](chorale::communicator<>& comm) {
      const auto why = comm.explain(chorale::operation::allreduce, 8);
      expect(why.find("multi_object<recursive_multiplying<4>, binomial>: ") != std::string::npos, why);
      check_allreduce<triangle>(comm, 7, claims_to_commute{}, seed());
    });
  }
}

TEST_CASE("between places only their leaders talk to each other", "[two_level]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  run_beside_adapter<mapping>(7, with_places("4,3"), [](mapping& comm) {
    for (int i = 0; i < 3; ++i) {
      comm.barrier();
      expect(comm.allreduce(comm.rank(), chorale::sum) == 21, "allreduce");
      int last = comm.rank() == 5 ? 9 : 0;
      comm.broadcast(last, chorale::root{5});
      expect(last == 9, "broadcast");
    }
    const auto& layout = comm.hosts();
    const bool leads = layout.members(layout.of(comm.rank())).front() == comm.rank();
    const auto& links = comm.transport().parts().links();
    for (int r = 0; r < comm.size(); ++r) {
      if (layout.of(r) == layout.of(comm.rank())) continue;
      const auto* c = links.find(r);
      const bool is_connected = c != nullptr && c->qp;
      expect(is_connected == (leads && layout.members(layout.of(r)).front() == r),
             "the connections between places");
    }
  });
}

TEST_CASE("short uneven blocks pass between places through a leader, long ones do not", "[two_level]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  for (const bool is_long : {false, true}) {
    run_beside_adapter(11, with_places("2,2,2,1,1,1,1,1"), [is_long](chorale::communicator<>& comm) {
      constexpr int root = 1;
      // Rank 5 has the only block that may be long.
      const auto count = [&](int rank) {
        return rank == 5 && is_long ? 2000 : static_cast<std::size_t>(rank);
      };
      std::vector<std::size_t> counts;
      std::vector<int> expected;
      for (int r = 0; r < comm.size(); ++r) {
        counts.push_back(count(r));
        expected.insert(expected.end(), counts.back(), r);
      }
      std::vector<int> all(comm.rank() == root ? expected.size() : 0);
      const std::vector<int> mine(count(comm.rank()), comm.rank());
      comm.gatherv(mine, all, counts, {}, chorale::root{root});
      if (comm.rank() == root) expect(all == expected, "gatherv");
      std::vector<int> back(mine.size());
      comm.scatterv(all, counts, back, {}, chorale::root{root});
      expect(back == mine, "scatterv");
      const auto& links = comm.transport().parts().links();
      if (comm.rank() != root) return;
      for (int r = 2; r < comm.size(); ++r) {
        const auto* c = links.find(r);
        const bool is_connected = c != nullptr && c->qp;
        expect(is_connected == (r != 3 && (r != 5 || is_long)), "the connections of the root");
      }
    });
  }
}

TEST_CASE("uneven blocks of many places arrive, from any root", "[two_level]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  for (const std::size_t zero_copy : {std::size_t{64}, std::size_t{1} << 30}) {
    auto c = with_places("1,3,1,2,1,1,2,1");
    c.zero_copy_bytes = zero_copy;
    run_beside_adapter(12, c, [](chorale::communicator<>& comm) {
      std::uint64_t s = seed();
      for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{1000}}) {
        for (int root = 0; root < comm.size(); ++root) {
          const manner how{.nonblocking = ++s % 3 == 0};
          check_gatherv<std::uint32_t>(comm, most, root, s, how);
          check_scatterv<std::uint32_t>(comm, most, root, s, how);
        }
      }
    });
  }
}

TEST_CASE("a scatter in place writes nothing into the operand of its root", "[two_level]") {
  if (left_out_in_virtual_time("it has no soft0")) return;
  using scattering =
      chorale::communicator<chorale::transport::rc,
                            chorale::scatter::two_level<chorale::scatter::flat, chorale::scatter::flat>>;
  constexpr int ranks = 6;
  constexpr std::size_t count = 4096;
  // Shared by the ranks, which are threads; a write is a fault.
  const std::size_t bytes = ranks * count * sizeof(int);
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  const std::span<int> table{static_cast<int*>(pages), ranks * count};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int>(i);
  REQUIRE(mprotect(pages, bytes, PROT_READ) == 0);
  // Places of adjoining ranks, and of ranks dealt in turn.
  for (const char* places : {"2x3", "2x3c"})
    for (const std::size_t zero_copy : {std::size_t{1000}, std::size_t{1} << 30}) {
      auto c = with_places(places);
      c.zero_copy_bytes = zero_copy;
      run_beside_adapter<scattering>(ranks, c, [&](scattering& comm) {
        for (int root = 0; root < ranks; ++root) {
          if (comm.rank() == root) {
            comm.scatter(std::span<const int>{table}, chorale::in_place, chorale::root{root});
            continue;
          }
          std::vector<int> mine(count);
          comm.scatter(std::span<const int>{}, mine, chorale::root{root});
          const auto own = table.subspan(static_cast<std::size_t>(comm.rank()) * count, count);
          expect(std::ranges::equal(mine, own), "what is scattered");
        }
      });
    }
  munmap(pages, bytes);
}

TEST_CASE("ranks of a place share slots whatever is between places", "[two_level]") {
  if (left_out_without_slots()) return;
  using meeting = chorale::communicator<chorale::transport::rc,
                                        barrier::two_level<barrier::last_arriver, barrier::dissemination>>;
  run_beside_adapter<meeting>(5, with_places("3,2"), [](meeting& comm) {
    comm.barrier();
    const auto& layout = comm.hosts();
    const bool leads = layout.members(layout.of(comm.rank())).front() == comm.rank();
    expect((comm.transport().memory().algorithm_bytes > 0) == leads, "the leader keeps the slots");
  });
}
