// SPDX-License-Identifier: Apache-2.0
// A Fourier transform in two dimensions: each rank has some rows, transforms them, and transposes the matrix
// with the others, so that the columns become rows. One exchange transposes: what a rank sends is read column
// by column, and what arrives is written where it belongs in the rows of the transposed matrix.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

using number = std::complex<double>;

/// exp(-2 pi i k / n)
number root_of_one(std::size_t k, std::size_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

/// The transform of `n` numbers that lie `stride` apart, by the smallest prime factor of n. Source: Cooley,
/// Tukey: An algorithm for the machine calculation of complex Fourier series, 1965.
std::vector<number> transform(const number* in, std::size_t n, std::size_t stride) {
  std::size_t factor = 2;
  while (factor < n && n % factor != 0) ++factor;
  if (n <= 1) return {in, in + n};
  const std::size_t m = n / factor;
  std::vector<std::vector<number>> parts;
  for (std::size_t f = 0; f < factor; ++f) parts.push_back(transform(in + f * stride, m, factor * stride));
  std::vector<number> out(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t f = 0; f < factor; ++f) out[k] += root_of_one(f * k, n) * parts[f][k % m];
  return out;
}

/// The rows of a rank: from `first(rank)` up to `first(rank + 1)`, of `count` in total.
struct share {
  std::size_t count;
  std::size_t ranks;
  [[nodiscard]] std::size_t first(std::size_t rank) const { return count * rank / ranks; }
  [[nodiscard]] std::size_t size(std::size_t rank) const { return first(rank + 1) - first(rank); }
};

/// This rank's rows of the transpose of a matrix, given its rows `in` of the matrix.
std::vector<number> transpose(chorale::communicator<>& comm, const std::vector<number>& in, const share& rows,
                              const share& columns) {
  const auto me = static_cast<std::size_t>(comm.rank());
  std::vector<number> out(columns.size(me) * rows.count);
  std::vector<chorale::outgoing> sends;
  std::vector<chorale::incoming> takes;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto peer = static_cast<std::size_t>(rank);
    // The columns of the peer, one after the other, each over all rows of this rank.
    sends.push_back(
        chorale::to(rank, chorale::strided{in.data() + columns.first(peer),
                                           {{columns.size(peer), 1}, {rows.size(me), columns.count}}}));
    // In each row of the transposed matrix, a block with one number for each of the peer's rows.
    takes.push_back(chorale::from(rank, chorale::strided{out.data() + rows.first(peer), columns.size(me),
                                                         rows.size(peer), rows.count}));
  }
  comm.exchange(sends, takes);
  return out;
}

void transform_rows(std::vector<number>& matrix, std::size_t columns) {
  for (std::size_t at = 0; at < matrix.size(); at += columns)
    std::ranges::copy(transform(&matrix[at], columns, 1), &matrix[at]);
}

number input(std::size_t row, std::size_t column) {
  return {static_cast<double>((row * 31 + column * 17) % 23), static_cast<double>((row + 5 * column) % 7)};
}

}  // namespace

// Usage: 19_fft_transpose [rows [columns]]
int main(int count, char** words) try {
  chorale::communicator<> comm;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
  const share rows{count > 1 ? std::strtoul(words[1], nullptr, 10) : 60, ranks};
  const share columns{count > 2 ? std::strtoul(words[2], nullptr, 10) : 42, ranks};

  std::vector<number> matrix;
  for (std::size_t i = rows.first(me); i < rows.first(me + 1); ++i)
    for (std::size_t j = 0; j < columns.count; ++j) matrix.push_back(input(i, j));

  transform_rows(matrix, columns.count);
  std::vector<number> turned = transpose(comm, matrix, rows, columns);
  transform_rows(turned, rows.count);
  const std::vector<number> result = transpose(comm, turned, columns, rows);

  // The transform by its definition, as a sum over all numbers of the matrix.
  double error = 0;
  for (std::size_t k = 0; k < rows.size(me); ++k) {
    for (std::size_t l = 0; l < columns.count; ++l) {
      number sum = 0;
      for (std::size_t j = 0; j < columns.count; ++j) {
        number column = 0;
        for (std::size_t i = 0; i < rows.count; ++i)
          column += input(i, j) * root_of_one(i * (rows.first(me) + k), rows.count);
        sum += column * root_of_one(j * l, columns.count);
      }
      error = std::max(error, std::abs(sum - result[k * columns.count + l]));
    }
  }
  const double largest = comm.allreduce(error, chorale::max);
  // Each number of the transform is a sum of this many numbers below 24.
  const bool right = largest < 1e-12 * 24 * static_cast<double>(rows.count * columns.count);
  if (comm.rank() == 0)
    fmt::print(
        "transform of {} x {} numbers on {} ranks: differs from the definition by {:.1e} at most ({})\n",
        rows.count, columns.count, ranks, largest, right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "19_fft_transpose: {}\n", e.what());
  return 1;
}
