// The choice among algorithms: the same result whatever is chosen, the same choice on all ranks, and its
// reasons.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <chorale/chorale.hpp>

#include "../support/collectives/checks.hpp"
#include "ranks.hpp"

using namespace collectives;
using chorale::operation;

namespace {

using chosen_among = chorale::communicator<
    chorale::transport::rc,
    chorale::automatic<chorale::allreduce::recursive_doubling, chorale::allreduce::reproducible,
                       chorale::allreduce::rabenseifner, chorale::allreduce::ring>,
    chorale::automatic<chorale::barrier::central, chorale::barrier::dissemination>>;

/// A tuning table on 3 ranks, in which each size has another winner; ends with its object.
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
        for (int k = 0; k < 3; ++k) out << '"' << names[k] << "\": " << (k == i ? 1 : 5) << ", ";
        out << R"("ring": )" << ring_us << "}},";
      }
    }
    out.seekp(-1, std::ios::cur);
    out << "]}";
  }
  ~table_file() { std::filesystem::remove(name); }
  std::filesystem::path name;
};

}  // namespace

TEST_CASE("whatever is chosen gives the same result", "[automatic]") {
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
    if (comm.explain(operation::reduce_scatter, 8).find("composed of it") == std::string::npos)
      throw wrong(comm.explain(operation::reduce_scatter, 8));
    if (comm.explain(operation::barrier).find("formula") == std::string::npos)
      throw wrong(comm.explain(operation::barrier));
    if (comm.explain(operation::split).find("no algorithm") == std::string::npos)
      throw wrong(comm.explain(operation::split));
  });
}

TEST_CASE("ranks with different tables are refused", "[automatic]") {
  const table_file one{"-1.json", 9};
  const table_file other{"-2.json", 8};
  std::string complaint;
  try {
    chorale::bootstrap::run_in_process(2, [&](auto& group) {
      auto settings = inprocess::settings();
      settings.tuning = group.rank() == 0 ? one.name : other.name;
      chosen_among comm{group, settings};
    });
  } catch (const chorale::error& e) {
    complaint = e.what();
    CHECK(e.code() == chorale::errc::mismatch);
  }
  CHECK(complaint.find("tuning table differs") != std::string::npos);
  CHECK(complaint.find("CHORALE_TUNING") != std::string::npos);
}
