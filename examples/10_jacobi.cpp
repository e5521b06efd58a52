// SPDX-License-Identifier: Apache-2.0
// Jacobi's iteration on a square, distributed over the ranks in two dimensions: each step exchanges the
// halos.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

/// Cells [first, last) of one dimension.
struct range {
  int first;
  int last;
  [[nodiscard]] int size() const { return last - first; }
};
range part_of(int cells, int parts, int part) {
  return {part * cells / parts, (part + 1) * cells / parts};
}

/// A rectangle of cells with a border of one cell around it, row by row.
class field {
 public:
  field(range rows, range columns)
      : top_(rows.first), left_(columns.first), rows_(rows.size()), columns_(columns.size()) {
    cells_.resize(static_cast<std::size_t>((rows_ + 2) * (columns_ + 2)));
    for (int i = -1; i <= rows_; ++i)
      for (int j = -1; j <= columns_; ++j) at(i, j) = start(rows.first + i, columns.first + j);
  }
  /// The rows of the square that these cells cover.
  [[nodiscard]] range rows() const { return {top_, top_ + rows_}; }
  [[nodiscard]] range columns() const { return {left_, left_ + columns_}; }
  double& at(int row, int column) { return cells_[index(row, column)]; }
  /// The cells of a row without the border.
  std::span<double> row(int i) {
    return std::span{cells_}.subspan(index(i, 0), static_cast<std::size_t>(columns_));
  }
  /// The cells of a column without the border, packed; `set_column` unpacks them.
  std::vector<double> column(int j) {
    std::vector<double> packed;
    for (int i = 0; i < rows_; ++i) packed.push_back(at(i, j));
    return packed;
  }
  void set_column(int j, std::span<const double> packed) {
    for (int i = 0; i < static_cast<int>(packed.size()); ++i) at(i, j) = packed[static_cast<std::size_t>(i)];
  }
  /// One step, from `old` into this field: each cell becomes the mean of its four neighbours.
  void step_from(field& old) {
    for (int i = 0; i < rows_; ++i)
      for (int j = 0; j < columns_; ++j)
        at(i, j) = 0.25 * (old.at(i - 1, j) + old.at(i + 1, j) + old.at(i, j - 1) + old.at(i, j + 1));
  }

 private:
  /// The initial value of a cell, which the border of the square keeps.
  static double start(int row, int column) { return std::sin(0.3 * row) * std::cos(0.2 * column); }
  [[nodiscard]] std::size_t index(int row, int column) const {
    return static_cast<std::size_t>((row + 1) * (columns_ + 2) + column + 1);
  }
  int top_;
  int left_;
  int rows_;
  int columns_;
  std::vector<double> cells_;
};

/// The number of rows of a grid of ranks that is as square as possible.
int ranks_down(int ranks) {
  int down = static_cast<int>(std::sqrt(ranks));
  while (ranks % down != 0) --down;
  return down;
}

/// This rank's part of a square of n x n cells after `steps` steps. Collective. `worked` receives the number
/// of computed cells, which runs in virtual time need, since computing takes no virtual time by itself
/// (scaling/).
field jacobi(chorale::communicator<>& comm, int n, int steps, const std::function<void(double)>& worked) {
  // Ranks at the edges of the grid have no neighbour there.
  const int down = ranks_down(comm.size());
  const int across = comm.size() / down;
  const int my_row = comm.rank() / across;
  const int my_column = comm.rank() % across;
  const auto rank_at = [&](int row, int column) {
    const bool inside = row >= 0 && row < down && column >= 0 && column < across;
    return inside ? row * across + column : chorale::nobody;
  };
  const int above = rank_at(my_row - 1, my_column);
  const int below = rank_at(my_row + 1, my_column);
  const int left = rank_at(my_row, my_column - 1);
  const int right = rank_at(my_row, my_column + 1);

  const range rows = part_of(n, down, my_row);
  const range columns = part_of(n, across, my_column);
  field now{rows, columns};
  field next = now;
  std::vector<double> from_left(static_cast<std::size_t>(rows.size()));
  std::vector<double> from_right(from_left.size());
  for (int step = 0; step < steps; ++step) {
    // Rows are contiguous, and sent and received in place; columns are packed.
    const auto to_left = now.column(0);
    const auto to_right = now.column(columns.size() - 1);
    comm.exchange({chorale::to(above, now.row(0)), chorale::to(below, now.row(rows.size() - 1)),
                   chorale::to(left, to_left), chorale::to(right, to_right)},
                  {chorale::from(above, now.row(-1)), chorale::from(below, now.row(rows.size())),
                   chorale::from(left, from_left), chorale::from(right, from_right)});
    if (left != chorale::nobody) now.set_column(-1, from_left);
    if (right != chorale::nobody) now.set_column(columns.size(), from_right);
    next.step_from(now);
    worked(static_cast<double>(rows.size()) * columns.size());
    std::swap(now, next);
  }
  return now;
}

}  // namespace

// Usage: 10_jacobi [cells of a side [steps]]
int main(int count, char** words) try {
  const int n = count > 1 ? std::atoi(words[1]) : 200;
  const int steps = count > 2 ? std::atoi(words[2]) : 50;
  chorale::communicator<> comm;
  field mine = jacobi(comm, n, steps, [](double) {});

  // The whole square on each rank: the same operations in the same order give the same bits.
  field whole{{0, n}, {0, n}};
  field other = whole;
  for (int step = 0; step < steps; ++step) {
    other.step_from(whole);
    std::swap(whole, other);
  }
  int wrong = 0;
  for (int i = 0; i < mine.rows().size(); ++i)
    for (int j = 0; j < mine.columns().size(); ++j)
      if (mine.at(i, j) != whole.at(mine.rows().first + i, mine.columns().first + j)) ++wrong;
  wrong = comm.allreduce(wrong, chorale::sum);
  if (comm.rank() == 0)
    fmt::print("{0} x {0} cells, {1} steps on {2} x {3} ranks: {4} cells differ from the serial result\n", n,
               steps, ranks_down(comm.size()), comm.size() / ranks_down(comm.size()), wrong);
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "10_jacobi: {}\n", e.what());
  return 1;
}
