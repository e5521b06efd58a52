// SPDX-License-Identifier: Apache-2.0
// C = A B with rows distributed over the ranks: one allgather of B, then a product by the machine's BLAS.
#include <algorithm>
#include <cblas.h>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

// Elements as functions of their place, so that every rank can make its rows of A and B by itself.
double a_at(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 31 + column * 17) % 23) / 23.0 - 0.5;
}
double b_at(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 13 + column * 7) % 29) / 29.0 - 0.5;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Rank r has rows [first_row(n, r, ranks), first_row(n, r + 1, ranks)) of A, B and C.
std::size_t first_row(std::size_t n, int rank, int ranks) {
  return static_cast<std::size_t>(rank) * n / static_cast<std::size_t>(ranks);
}

struct product {
  std::vector<double> c;  ///< this rank's rows, one after the other
  double gathered = 0;    ///< seconds that the allgather took
  double all = 0;         ///< seconds in total
};

/// The product of two matrices of n x n elements. Collective. `worked` receives the number of
/// multiplications, which runs in virtual time need, since computing takes no virtual time by itself
/// (scaling/).
product multiply(chorale::communicator<>& comm, std::size_t n, const std::function<void(double)>& worked) {
  const auto first = [&](int rank) { return first_row(n, rank, comm.size()); };
  const std::size_t top = first(comm.rank());
  const std::size_t rows = first(comm.rank() + 1) - top;
  std::vector<double> a(rows * n);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j) a[i * n + j] = a_at(top + i, j);

  // All of B is in registered memory, with this rank's rows in place.
  auto b = comm.allocate<double>(n * n);
  std::vector<std::size_t> counts;
  for (int r = 0; r < comm.size(); ++r) counts.push_back((first(r + 1) - first(r)) * n);
  const auto own = b.span().subspan(top * n, rows * n);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j) own[i * n + j] = b_at(top + i, j);

  product made;
  made.c.resize(rows * n);
  comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  comm.allgatherv(std::span<const double>{own}, b.span(), std::span<const std::size_t>{counts});
  made.gathered = seconds_since(start);
  if (rows != 0) {
    const auto size = static_cast<int>(n);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows), size, size, 1.0, a.data(),
                size, b.data(), size, 0.0, made.c.data(), size);
    worked(static_cast<double>(rows * n) * static_cast<double>(n));
  }
  made.all = seconds_since(start);
  return made;
}

}  // namespace

// Usage: 07_matrix_multiply [N]
int main(int count, char** words) try {
  const std::size_t n = count > 1 ? std::strtoul(words[1], nullptr, 10) : 301;
  chorale::communicator<> comm;
  const product made = multiply(comm, n, [](double) {});

  // The serial product of these rows, from the definition.
  const std::size_t top = first_row(n, comm.rank(), comm.size());
  const std::size_t rows = first_row(n, comm.rank() + 1, comm.size()) - top;
  double worst = 0;
  std::vector<double> expected(n);
  for (std::size_t i = 0; i < rows; ++i) {
    std::fill(expected.begin(), expected.end(), 0.0);
    for (std::size_t k = 0; k < n; ++k) {
      const double x = a_at(top + i, k);
      for (std::size_t j = 0; j < n; ++j) expected[j] += x * b_at(k, j);
    }
    for (std::size_t j = 0; j < n; ++j) worst = std::max(worst, std::abs(made.c[i * n + j] - expected[j]));
  }
  worst = comm.allreduce(worst, chorale::max);
  const bool right = worst <= 1e-12 * static_cast<double>(n);
  if (comm.rank() == 0)
    fmt::print(
        "{0} x {0} matrices on {1} ranks: allgather {2:.3f} ms, all {3:.3f} ms, largest difference {4:.1e} "
        "({5})\n",
        n, comm.size(), 1e3 * made.gathered, 1e3 * made.all, worst, right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "07_matrix_multiply: {}\n", e.what());
  return 1;
}
