// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients for the Poisson equation on a square grid: halos by puts with notification into the
// neighbours' windows, dot products by allreduce.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

using field = std::span<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// y = A x for `rows` rows of `n` cells; x has an additional row above and below.
void laplacian(std::span<const double> x, field y, std::size_t rows, std::size_t n) {
  for (std::size_t i = 0; i < rows; ++i) {
    const auto* here = x.data() + (i + 1) * n;
    for (std::size_t j = 0; j < n; ++j)
      y[i * n + j] =
          4 * here[j] - here[j - n] - here[j + n] - (j > 0 ? here[j - 1] : 0) - (j + 1 < n ? here[j + 1] : 0);
  }
}

constexpr int most_steps = 10'000;

/// Solves A u = 1 on `rows` rows of n cells in at most `most` steps; returns their number. `p` has an
/// additional row above and below, which `fill_halo` fills. `total` sums over all ranks.
template <class FillHalo, class Total>
int solve(field u, field p, std::size_t rows, std::size_t n, int most, FillHalo&& fill_halo, Total&& total) {
  std::vector<double> r(rows * n, 1.0);
  std::vector<double> ap(rows * n);
  const auto inner = p.subspan(n, rows * n);
  std::copy(r.begin(), r.end(), inner.begin());
  double rr = total(dot(r, r));
  const double enough = 1e-20 * rr;
  int steps = 0;
  for (; rr > enough && steps < most; ++steps) {
    fill_halo();
    laplacian(p, ap, rows, n);
    const double alpha = rr / total(dot(inner, ap));
    for (std::size_t i = 0; i < r.size(); ++i) {
      u[i] += alpha * inner[i];
      r[i] -= alpha * ap[i];
    }
    const double before = std::exchange(rr, total(dot(r, r)));
    for (std::size_t i = 0; i < r.size(); ++i) inner[i] = r[i] + rr / before * inner[i];
  }
  return steps;
}

/// The first row of a rank; its rows end before the first row of the next rank.
std::size_t first_row(std::size_t n, int rank, int ranks) {
  return static_cast<std::size_t>(rank) * n / static_cast<std::size_t>(ranks);
}

struct solution {
  std::vector<double> u;  ///< this rank's rows
  int steps = 0;
};

/// Solves A u = 1 on n x n cells. Collective. `worked` receives the number of cells of each step, which runs
/// in virtual time need, since computing takes no virtual time by itself (scaling/).
solution conjugate_gradient(chorale::communicator<>& comm, std::size_t n, int most,
                            const std::function<void(double)>& worked) {
  if (n < static_cast<std::size_t>(comm.size()))
    throw std::invalid_argument("there are more ranks than rows");
  const std::size_t rows =
      first_row(n, comm.rank() + 1, comm.size()) - first_row(n, comm.rank(), comm.size());
  const int above = comm.rank() - 1;
  const int below = comm.rank() + 1;

  // The neighbours write into the halo of the search direction.
  auto window = comm.make_window<double>((rows + 2) * n);
  const field p = window.local();
  enum : std::size_t { from_above, from_below, room_above, room_below };
  const auto fill_halo = [&] {
    // The halo row of a neighbour may be written once it has notified this rank that it has used the previous
    // one.
    const bool has_above = above >= 0;
    const bool has_below = below < comm.size();
    if (has_above) window.put_notify(above, 0, {}, room_below);
    if (has_below) window.put_notify(below, 0, {}, room_above);
    if (has_above) {
      window.wait_notified(above, room_above);
      window.put_notify(above, window.size(above) - n, std::span<const double>{p.subspan(n, n)}, from_below);
    }
    if (has_below) {
      window.wait_notified(below, room_below);
      window.put_notify(below, 0, std::span<const double>{p.subspan(rows * n, n)}, from_above);
    }
    if (has_above) window.wait_notified(above, from_above);
    if (has_below) window.wait_notified(below, from_below);
    // The source rows change after this step.
    window.flush_all();
    worked(static_cast<double>(rows * n));  // for the step that begins now
  };
  solution found{std::vector<double>(rows * n)};
  found.steps = solve(found.u, p, rows, n, most, fill_halo,
                      [&](double mine) { return comm.allreduce(mine, chorale::sum); });
  return found;
}

}  // namespace

// Usage: 08_conjugate_gradient [N]
int main(int count, char** words) try {
  const std::size_t n = count > 1 ? std::strtoul(words[1], nullptr, 10) : 48;
  chorale::communicator<> comm;
  const solution found = conjugate_gradient(comm, n, most_steps, [](double) {});

  // The same on one rank, which needs no halo.
  std::vector<double> whole(n * n);
  std::vector<double> direction((n + 2) * n);
  const int serial_steps = solve(
      whole, direction, n, n, most_steps, [] {}, [](double mine) { return mine; });
  double worst = 0;
  double largest = 0;
  const std::size_t top = first_row(n, comm.rank(), comm.size());
  for (std::size_t i = 0; i < found.u.size(); ++i) {
    worst = std::max(worst, std::abs(found.u[i] - whole[top * n + i]));
    largest = std::max(largest, std::abs(found.u[i]));
  }
  worst = comm.allreduce(worst, chorale::max);
  largest = comm.allreduce(largest, chorale::max);
  const bool right = worst <= 1e-8 * largest && found.steps < most_steps;
  if (comm.rank() == 0)
    fmt::print(
        "{0} x {0} cells on {1} ranks: {2} steps (serial {3}), largest difference {4:.1e} of {5:.1f} ({6})\n",
        n, comm.size(), found.steps, serial_steps, worst, largest, right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "08_conjugate_gradient: {}\n", e.what());
  return 1;
}
