// SPDX-License-Identifier: Apache-2.0
// mpi-peers: the loop of chorale-bench over MPI, for comparison. Built once for each MPI that is found.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <algorithm>
#include <climits>
#include <exception>
#include <memory>
#include <mpi.h>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "../bench/session.hpp"

namespace bench {
namespace {

class mpi_team final : public team {
 public:
  mpi_team() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void sum(std::span<double> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  double max(double value) override {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

/// The memory of all calls, as chorale-bench has one of all its calls: which pages a process has decides how
/// fast its caches are.
struct buffers {
  buffers(std::size_t max_bytes, int blocks)
      : in((max_bytes / sizeof(float) + 1) * static_cast<std::size_t>(blocks), 1.0F), out(in.size()) {}
  aligned_floats in;
  aligned_floats out;
};

/// An MPI operation as chorale-bench measures it: float sums, root 0, separate operand and result.
class mpi_call final : public contestant {
 public:
  mpi_call(const std::string& what, const buffers& memory, bool back_to_back)
      : contestant(what, "MPI", "mpi"), memory_(memory), back_to_back_(back_to_back) {}

  void meet() override { MPI_Barrier(MPI_COMM_WORLD); }
  double run(std::size_t bytes, int calls) override {
    const int count = static_cast<int>(bytes / sizeof(float));
    float* const in = memory_.in.data();
    float* const out = memory_.out.data();
    const auto meeting = [] { MPI_Barrier(MPI_COMM_WORLD); };
    const auto rooted = [&](auto&& call) {
      return back_to_back_ ? time_together(calls, call) : time_apart(calls, call, meeting);
    };
    if (operation == "barrier") return time_together(calls, meeting);
    if (operation == "broadcast")
      return rooted([&] { MPI_Bcast(out, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD); });
    if (operation == "reduce")
      return rooted([&] { MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD); });
    if (operation == "gather")
      return rooted([&] { MPI_Gather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, MPI_COMM_WORLD); });
    if (operation == "scatter")
      return rooted([&] { MPI_Scatter(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, MPI_COMM_WORLD); });
    if (operation == "allgather")
      return time_together(
          calls, [&] { MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD); });
    if (operation == "alltoall")
      return time_together(
          calls, [&] { MPI_Alltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD); });
    if (operation == "reduce_scatter")
      return time_together(
          calls, [&] { MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
    if (operation == "scan")
      return time_together(calls,
                           [&] { MPI_Scan(MPI_IN_PLACE, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
    if (operation == "exchange") return time_together(calls, [&] { shift(in, out, count); });
    return time_together(calls, [&] { MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  }
  std::string check(std::size_t, team&) override { return {}; }

 private:
  /// A message to the next rank and one from the one before.
  static void shift(const float* in, float* out, int count) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(in, count, MPI_FLOAT, (rank + 1) % ranks, 0, out, count, MPI_FLOAT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  const buffers& memory_;
  bool back_to_back_;
};

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all{text, static_cast<std::size_t>(length)};
  return all.substr(0, all.find_first_of(",\n"));
}

std::size_t largest(const common_options& o) {
  return o.limit.sizes.empty() ? o.limit.max_bytes
                               : *std::max_element(o.limit.sizes.begin(), o.limit.sizes.end());
}

void run(const common_options& o) {
  mpi_team all;
  std::vector<std::unique_ptr<mpi_call>> calls;
  const buffers memory{largest(o), blocks_of(o.operations, all.size())};
  for (const auto& operation : all_operations())
    calls.push_back(std::make_unique<mpi_call>(operation, memory, o.limit.back_to_back));
  const field of = [&](const std::string& operation) {
    std::vector<contestant*> found;
    for (const auto& one : calls) {
      if (one->operation == operation) found.push_back(one.get());
    }
    return found;
  };
  facts about{{"MPI", library_version()}, {"ranks", std::to_string(all.size())}};
  if (o.limit.back_to_back) about.emplace_back(back_to_back_fact);
  if (all.rank() == 0) check_files(o.outputs);
  const auto rows = run_session(o, about, all, of, {});
  if (all.rank() == 0)
    write_files(o.outputs, {{"", {about, all.size(), rows_of_result(rows), machine_facts(), run_facts()}}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app{"Measures the collectives of an MPI library as chorale-bench measures Chorale's.",
               "mpi-peers"};
  bench::common_options o;
  bench::add_common_options(app, o);
  if (const int status = bench::parse(app, argc, argv); status >= 0) return status;
  if (bench::largest(o) > INT_MAX) {
    if (bench::may_speak())
      chorale::say(stderr,
                   "mpi-peers: MPI counts in int: sizes are {} bytes at most (--sizes, --max-bytes)\n",
                   INT_MAX);
    return 2;
  }
  MPI_Init(&argc, &argv);
  try {
    bench::run(o);
  } catch (const std::exception& e) {
    chorale::say(stderr, "mpi-peers: {}\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
