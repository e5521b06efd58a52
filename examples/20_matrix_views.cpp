// SPDX-License-Identifier: Apache-2.0
// Views of a matrix library as operands: a class with the interface of std::mdspan can be used without any
// code for Chorale. A product C = A B, in which rank r has some columns of A and the same rows of B: the root
// scatters views of its matrices, and the sum of all ranks' products arrives in a view of C.
#include <array>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

/// A block of a matrix, as matrix libraries have it.
template <class Number>
class matrix_view {
 public:
  struct shape {
    std::size_t rows, columns;
    [[nodiscard]] std::size_t extent(std::size_t i) const { return i == 0 ? rows : columns; }
  };
  matrix_view(Number* first, shape size, std::array<std::size_t, 2> strides)
      : first_(first), size_(size), strides_(strides) {}

  // The members that Chorale uses.
  static constexpr std::size_t rank() { return 2; }
  [[nodiscard]] Number* data_handle() const { return first_; }
  [[nodiscard]] shape extents() const { return size_; }
  [[nodiscard]] std::size_t stride(std::size_t i) const { return strides_[i]; }

  Number& operator()(std::size_t row, std::size_t column) const {
    return first_[row * strides_[0] + column * strides_[1]];
  }
  [[nodiscard]] matrix_view transposed() const {
    return {first_, {size_.columns, size_.rows}, {strides_[1], strides_[0]}};
  }
  [[nodiscard]] matrix_view block(std::size_t row, std::size_t column, shape size) const {
    return {&(*this)(row, column), size, strides_};
  }

 private:
  Number* first_;
  shape size_;
  std::array<std::size_t, 2> strides_;
};

/// A matrix with padding after each row, as is usual for alignment.
class matrix {
 public:
  matrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), numbers_(rows * (columns + padding), -1.0) {}
  [[nodiscard]] matrix_view<double> view() {
    return {numbers_.data(), {rows_, columns_}, {columns_ + padding, 1}};
  }
  /// Whether nothing was written into the padding.
  [[nodiscard]] bool is_whole() const {
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      if (i % (columns_ + padding) >= columns_ && numbers_[i] != -1.0) return false;
    return true;
  }

 private:
  static constexpr std::size_t padding = 3;
  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> numbers_;
};

// Integers, so that every order of summation gives the same.
double a(std::size_t i, std::size_t j) {
  return static_cast<double>((i * 7 + j * 3) % 11);
}
double b(std::size_t i, std::size_t j) {
  return static_cast<double>((i * 5 + j) % 13);
}

}  // namespace

// Usage: 20_matrix_views [rows of A [columns of A [columns of B]]]
int main(int count, char** words) try {
  const auto number = [&](int i, std::size_t otherwise) {
    return count > i ? std::strtoul(words[i], nullptr, 10) : otherwise;
  };
  const std::size_t m = number(1, 37);
  const std::size_t k = number(2, 50);
  const std::size_t n = number(3, 29);
  chorale::communicator<> comm;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
  const bool is_root = comm.rank() == 0;

  matrix whole_a{is_root ? m : 0, is_root ? k : 0};
  matrix whole_b{is_root ? k : 0, is_root ? n : 0};
  if (is_root) {
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < k; ++j) whole_a.view()(i, j) = a(i, j);
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < n; ++j) whole_b.view()(i, j) = b(i, j);
  }

  // Rank r gets columns [first(r), first(r + 1)) of A, which are rows of the transposed view, and the same
  // rows of B.
  const auto first = [&](std::size_t rank) { return k * rank / ranks; };
  const std::size_t inner = first(me + 1) - first(me);
  std::vector<std::size_t> of_a, of_b;
  for (std::size_t r = 0; r < ranks; ++r) {
    of_a.push_back((first(r + 1) - first(r)) * m);
    of_b.push_back((first(r + 1) - first(r)) * n);
  }
  matrix my_a{m, inner};
  matrix my_b{inner, n};
  comm.scatterv(whole_a.view().transposed(), of_a, my_a.view().transposed());
  comm.scatterv(whole_b.view(), of_b, my_b.view());

  matrix part{m, n};
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < inner; ++l) sum += my_a.view()(i, l) * my_b.view()(l, j);
      part.view()(i, j) = sum;
    }
  matrix c{is_root ? m : 0, is_root ? n : 0};
  if (is_root)
    comm.reduce(part.view(), c.view(), chorale::sum);
  else
    comm.reduce(part.view(), chorale::nothing, chorale::sum);

  // The root broadcasts the inside of the product, which each rank checks.
  matrix all{m, n};
  if (is_root)
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) all.view()(i, j) = c.view()(i, j);
  comm.broadcast(all.view().block(1, 1, {m - 2, n - 2}));
  int mine = part.is_whole() && my_a.is_whole() && my_b.is_whole() && all.is_whole() && c.is_whole() ? 0 : 1;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const bool is_inside = i > 0 && j > 0 && i + 1 < m && j + 1 < n;
      double expected = 0;
      for (std::size_t l = 0; l < k; ++l) expected += a(i, l) * b(l, j);
      if (all.view()(i, j) != (is_root || is_inside ? expected : -1.0)) ++mine;
    }
  const int wrong = comm.allreduce(mine, chorale::sum);
  if (is_root)
    fmt::print("{0} x {1} times {1} x {2} on {3} ranks: {4} numbers are wrong\n", m, k, n, ranks, wrong);
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "20_matrix_views: {}\n", e.what());
  return 1;
}
