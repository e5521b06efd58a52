// SPDX-License-Identifier: Apache-2.0
// The heat equation with halos by either library and reductions by either: all four combinations give the
// bits and the sums of the serial solution. While a rank waits in one library, it drives the other.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mpi.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <chorale/bootstrap/mpi.hpp>
#include <chorale/chorale.hpp>

namespace {

// Sums of doubles, added in the order of the ranks.
using ordered = chorale::communicator<chorale::allreduce::reproducible>;

constexpr int side = 53;
constexpr double enough = 0.05;

/// Rows [first, last) of the plate, with the rows before and after them.
class strip {
 public:
  strip(int first, int last) : first_(first), rows_(last - first), cells_(row_at(rows_ + 1)) {
    for (int i = -1; i <= rows_; ++i)
      for (int j = 0; j < side; ++j) row(i)[j] = 20 + 15 * std::sin(0.3 * (first_ + i)) * std::cos(0.2 * j);
  }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] double* row(int i) { return cells_.data() + row_at(i); }
  [[nodiscard]] const double* row(int i) const { return cells_.data() + row_at(i); }

  /// Performs one time step of these rows, from `old`. @returns the largest change
  double step_from(const strip& old, int from, int to) {
    double change = 0;
    for (int i = std::max(from, 0); i < std::min(to, rows_); ++i)
      for (int j = 1; j + 1 < side; ++j) {
        if (first_ + i == 0 || first_ + i == side - 1) continue;  // the edge of the plate keeps its heat
        const double* const mine = old.row(i) + j;
        row(i)[j] = *mine + 0.2 * (old.row(i - 1)[j] + old.row(i + 1)[j] + mine[-1] + mine[1] - 4 * *mine);
        change = std::max(change, std::abs(row(i)[j] - *mine));
      }
    return change;
  }
  [[nodiscard]] double heat() const {
    double sum = 0;
    for (int i = 0; i < rows_; ++i)
      for (int j = 0; j < side; ++j) sum += row(i)[j];
    return sum;
  }

 private:
  [[nodiscard]] static std::size_t row_at(int i) { return static_cast<std::size_t>(i + 1) * side; }
  int first_;
  int rows_;
  std::vector<double> cells_;
};

/// MPI requests that are driven together.
template <std::size_t count>
struct mpi_requests {
  std::array<MPI_Request, count> all;
  mpi_requests() { all.fill(MPI_REQUEST_NULL); }
  /// @returns whether any is outstanding
  bool drive() {
    int is_over = 0;
    MPI_Testall(static_cast<int>(count), all.data(), &is_over, MPI_STATUSES_IGNORE);
    return is_over == 0;
  }
  /// Replaces MPI_Waitall, which would not drive Chorale's calls.
  void finish() {
    while (drive()) chorale::progress();
  }
};

struct halos_by_mpi : mpi_requests<4> {
  explicit halos_by_mpi(ordered&) {}
  void start(strip& old, int above, int below) {
    const auto peer = [](int rank) { return rank < 0 ? MPI_PROC_NULL : rank; };
    MPI_Irecv(old.row(-1), side, MPI_DOUBLE, peer(above), 1, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(old.row(old.rows()), side, MPI_DOUBLE, peer(below), 2, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(old.row(0), side, MPI_DOUBLE, peer(above), 2, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(old.row(old.rows() - 1), side, MPI_DOUBLE, peer(below), 1, MPI_COMM_WORLD, &all[3]);
  }
};

struct halos_by_chorale {
  explicit halos_by_chorale(ordered& on) : comm(on.duplicate()) {}
  ordered comm;
  chorale::request pending;
  void start(strip& old, int above, int below) {
    const auto peer = [](int rank) { return rank < 0 ? chorale::nobody : rank; };
    const auto row = [&](int i) { return std::span{old.row(i), std::size_t{side}}; };
    const auto first = row(0), last = row(old.rows() - 1), before = row(-1), after = row(old.rows());
    pending = comm.iexchange({chorale::to(peer(above), first), chorale::to(peer(below), last)},
                             {chorale::from(peer(above), before), chorale::from(peer(below), after)});
  }
  static bool drive() { return false; }
  void finish() { pending.wait(); }
};

struct sums_by_mpi : mpi_requests<2> {
  explicit sums_by_mpi(ordered& on) : parts(static_cast<std::size_t>(on.size())) {}
  double mine = 0;
  double change = 0;
  double sum = 0;
  std::vector<double> parts;
  void start(double heat, double largest) {
    mine = heat;
    change = largest;
    MPI_Iallreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, all.data());
    MPI_Iallgather(&mine, 1, MPI_DOUBLE, parts.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD, all.data() + 1);
  }
  void finish() {
    mpi_requests::finish();
    sum = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) sum += parts[i];
  }
};

struct sums_by_chorale {
  explicit sums_by_chorale(ordered& on) : comm(on) {}
  ordered& comm;
  double change = 0;
  double sum = 0;
  std::array<chorale::request, 2> pending;
  void start(double heat, double largest) {
    sum = heat;
    change = largest;
    pending = {comm.iallreduce(chorale::in_place, change, chorale::max),
               comm.iallreduce(chorale::in_place, sum, chorale::sum)};
  }
  static bool drive() { return false; }
  void finish() { chorale::wait_all(pending); }
};

struct solution {
  strip mine;
  std::vector<std::uint64_t> sums;  ///< of each step, as bits
};

/// Iterates until the plate is stable. The sums of a step are in progress during the next one.
template <class Halos, class Sums>
solution solve(ordered& comm) {
  const int rank = comm.rank(), size = comm.size();
  const int above = rank - 1, below = rank + 1 < size ? rank + 1 : -1;
  strip old{side * rank / size, side * (rank + 1) / size};
  strip next = old;
  std::vector<std::uint64_t> sums;
  Halos halos{comm};
  Sums all{comm};
  const chorale::while_waiting mpi{[&] {
    const bool sends = halos.drive(), adds = all.drive();
    return sends || adds;
  }};
  for (bool is_first = true;; is_first = false) {
    halos.start(old, above, below);
    double change = next.step_from(old, 1, old.rows() - 1);
    if (!is_first) {
      all.finish();
      sums.push_back(std::bit_cast<std::uint64_t>(all.sum));
      if (all.change < enough) break;
    }
    halos.finish();
    change = std::max(change, next.step_from(old, 0, 1));
    change = std::max(change, next.step_from(old, old.rows() - 1, old.rows()));
    all.start(next.heat(), change);
    std::swap(old, next);
  }
  halos.finish();
  return {old, sums};
}

template <class Halos, class Sums>
void compare(const std::string& what, ordered& comm, std::optional<solution>& first) {
  const solution now = solve<Halos, Sums>(comm);
  // The whole plate, computed in this process without either library.
  strip whole{0, side};
  strip next = whole;
  for (std::size_t step = 0; step < now.sums.size(); ++step) {
    const double change = next.step_from(whole, 0, side);
    if ((change < enough) != (step + 1 == now.sums.size()))
      throw std::runtime_error(what + ": ends after another step");
    std::swap(whole, next);
  }
  const int from = side * comm.rank() / comm.size();
  for (int i = 0; i < now.mine.rows(); ++i)
    for (int j = 0; j < side; ++j)
      if (std::bit_cast<std::uint64_t>(now.mine.row(i)[j]) !=
          std::bit_cast<std::uint64_t>(whole.row(from + i)[j]))
        throw std::runtime_error(what + ": other bits than the serial solution");
  if (!first) first = now;
  if (now.sums != first->sums) throw std::runtime_error(what + ": other bits of sums than by MPI alone");
}

}  // namespace

int main(int argc, char** argv) try {
  MPI_Init(&argc, &argv);
  {
    ordered comm{chorale::bootstrap::mpi{MPI_COMM_WORLD}};
    std::optional<solution> first;
    compare<halos_by_mpi, sums_by_mpi>("MPI alone", comm, first);
    compare<halos_by_mpi, sums_by_chorale>("halos by MPI, sums by Chorale", comm, first);
    compare<halos_by_chorale, sums_by_mpi>("halos by Chorale, sums by MPI", comm, first);
    compare<halos_by_chorale, sums_by_chorale>("Chorale alone", comm, first);
    if (comm.rank() == 0) std::printf("all right: heat, %zu steps\n", first->sums.size());
  }
  MPI_Finalize();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "heat: %s\n", e.what());
  return 1;
}
