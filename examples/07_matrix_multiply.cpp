// C = A B with rows dealt out to the ranks: one allgather of B, then a product by the machine's BLAS.
#include <algorithm>
#include <cblas.h>
#include <chrono>
#include <cmath>
#include <cstdlib>
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

}  // namespace

// Usage: 07_matrix_multiply [N]
int main(int count, char** words) try {
  const std::size_t n = count > 1 ? std::strtoul(words[1], nullptr, 10) : 301;
  chorale::communicator<> comm;
  const auto ranks = static_cast<std::size_t>(comm.size());

  // Rank r has rows [first(r), first(r + 1)) of A, B and C.
  const auto first = [&](std::size_t rank) { return rank * n / ranks; };
  const auto me = static_cast<std::size_t>(comm.rank());
  const std::size_t rows = first(me + 1) - first(me);
  std::vector<double> a(rows * n);
  std::vector<double> c(rows * n);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j) a[i * n + j] = a_at(first(me) + i, j);

  // All of B lies in memory from the device, its own rows in place.
  auto b = comm.allocate<double>(n * n);
  std::vector<std::size_t> counts;
  for (std::size_t r = 0; r < ranks; ++r) counts.push_back((first(r + 1) - first(r)) * n);
  const auto own = b.span().subspan(first(me) * n, rows * n);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j) own[i * n + j] = b_at(first(me) + i, j);

  comm.barrier();
  const auto start = std::chrono::steady_clock::now();
  comm.allgatherv(std::span<const double>{own}, b.span(), std::span<const std::size_t>{counts});
  const double gathered = seconds_since(start);
  if (rows != 0) {
    const auto size = static_cast<int>(n);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows), size, size, 1.0, a.data(),
                size, b.data(), size, 0.0, c.data(), size);
  }
  const double all = seconds_since(start);

  // The serial product of these rows, from the definition.
  double worst = 0;
  std::vector<double> expected(n);
  for (std::size_t i = 0; i < rows; ++i) {
    std::fill(expected.begin(), expected.end(), 0.0);
    for (std::size_t k = 0; k < n; ++k) {
      const double x = a_at(first(me) + i, k);
      for (std::size_t j = 0; j < n; ++j) expected[j] += x * b_at(k, j);
    }
    for (std::size_t j = 0; j < n; ++j) worst = std::max(worst, std::abs(c[i * n + j] - expected[j]));
  }
  worst = comm.allreduce(worst, chorale::max);
  const bool right = worst <= 1e-12 * static_cast<double>(n);
  if (comm.rank() == 0)
    fmt::print(
        "{0} x {0} matrices on {1} ranks: allgather {2:.3f} ms, all {3:.3f} ms, largest difference {4:.1e} "
        "({5})\n",
        n, ranks, 1e3 * gathered, 1e3 * all, worst, right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "07_matrix_multiply: {}\n", e.what());
  return 1;
}
