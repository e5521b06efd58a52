// SPDX-License-Identifier: Apache-2.0
// The heat equation on a square plate, distributed over the ranks in two dimensions: while the halos are in
// transit, each rank computes the cells that do not need them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>
#include <chorale/plan.hpp>

namespace {

/// Rows or columns [first, last).
struct range {
  int first;
  int last;
  [[nodiscard]] int size() const { return last - first; }
};
range part_of(int cells, int parts, int part) {
  return {part * cells / parts, (part + 1) * cells / parts};
}

/// The temperatures of a rectangle of cells with a border of one cell around it, row by row.
class plate {
 public:
  range rows;  ///< of the whole plate
  range columns;
  plate(range of_rows, range of_columns) : rows(of_rows), columns(of_columns) {
    cells_.resize(index(rows.size(), columns.size()) + 1);
    for (int i = -1; i <= rows.size(); ++i)
      for (int j = -1; j <= columns.size(); ++j)
        at(i, j) = 20 + 15 * std::sin(0.3 * (rows.first + i)) * std::cos(0.2 * (columns.first + j));
  }
  double& at(int row, int column) { return cells_[index(row, column)]; }
  [[nodiscard]] double at(int row, int column) const { return cells_[index(row, column)]; }
  /// The cells of a row without the border, which are contiguous.
  std::span<double> row(int i) {
    return std::span{cells_}.subspan(index(i, 0), static_cast<std::size_t>(columns.size()));
  }
  /// Copies the cells of a column without the border into a buffer; `set_column` copies them back.
  void copy_column(int j, std::vector<double>& packed) const {
    for (int i = 0; double& cell : packed) cell = at(i++, j);
  }
  void set_column(int j, const std::vector<double>& packed) {
    for (int i = 0; const double cell : packed) at(i++, j) = cell;
  }
  /// One explicit time step of these cells, from `old` into this plate.
  void step_from(const plate& old, range down, range across) {
    for (int i = down.first; i < down.last; ++i)
      for (int j = across.first; j < across.last; ++j)
        at(i, j) = old.at(i, j) + 0.2 * (old.at(i - 1, j) + old.at(i + 1, j) + old.at(i, j - 1) +
                                         old.at(i, j + 1) - 4 * old.at(i, j));
  }

 private:
  [[nodiscard]] std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row + 1) * static_cast<std::size_t>(columns.size() + 2) +
           static_cast<std::size_t>(column + 1);
  }
  std::vector<double> cells_;
};

/// This rank's part of a plate of n x n cells after `steps` steps. `worked` receives the number of computed
/// cells, which runs in virtual time need, since computing takes no virtual time by itself (scaling/).
plate heat(chorale::communicator<>& comm, int n, int steps, const std::function<void(double)>& worked) {
  // The grid of ranks is as square as possible; ranks at its edges have no neighbour there.
  int down = static_cast<int>(std::sqrt(comm.size()));
  while (comm.size() % down != 0) --down;
  const int across = comm.size() / down;
  if (n < across) throw std::invalid_argument("a side has fewer cells than there are ranks in a row");
  const int my_row = comm.rank() / across, my_column = comm.rank() % across;
  const auto rank_at = [&](int row, int column) {
    const bool inside = row >= 0 && row < down && column >= 0 && column < across;
    return inside ? row * across + column : chorale::nobody;
  };
  const int above = rank_at(my_row - 1, my_column), below = rank_at(my_row + 1, my_column);
  const int left = rank_at(my_row, my_column - 1), right = rank_at(my_row, my_column + 1);

  // Steps alternate between two plates, and each plate sends the same messages every time: one plan per plate
  // prepares them once. Rows are sent and received in place, columns through buffers.
  plate first{part_of(n, down, my_row), part_of(n, across, my_column)};
  std::array<plate, 2> plates{first, first};
  const int rows = first.rows.size(), columns = first.columns.size();
  std::vector<double> to_left(static_cast<std::size_t>(rows));
  std::vector<double> to_right = to_left, from_left = to_left, from_right = to_left;
  const auto plan_for = [&](plate& p) {
    return comm.plan_exchange({chorale::to(above, p.row(0)), chorale::to(below, p.row(rows - 1)),
                               chorale::to(left, to_left), chorale::to(right, to_right)},
                              {chorale::from(above, p.row(-1)), chorale::from(below, p.row(rows)),
                               chorale::from(left, from_left), chorale::from(right, from_right)});
  };
  std::array<chorale::plan, 2> halos{plan_for(plates[0]), plan_for(plates[1])};

  for (int step = 0; step < steps; ++step) {
    const auto now = static_cast<std::size_t>(step % 2);
    plate& old = plates[now];
    plate& next = plates[1 - now];
    old.copy_column(0, to_left);
    old.copy_column(columns - 1, to_right);
    halos[now].start();
    next.step_from(old, {1, rows - 1}, {1, columns - 1});
    worked(std::max(rows - 2, 0) * std::max(columns - 2, 0));
    halos[now].wait();
    if (left != chorale::nobody) old.set_column(-1, from_left);
    if (right != chorale::nobody) old.set_column(columns, from_right);
    // The outermost cells. If the first row is also the last, it is computed twice, with the same result.
    for (const int i : {0, rows - 1}) next.step_from(old, {i, i + 1}, {0, columns});
    for (const int j : {0, columns - 1}) next.step_from(old, {0, rows}, {j, j + 1});
    worked(2 * (rows + columns));
  }
  return plates[static_cast<std::size_t>(steps % 2)];
}

}  // namespace

// Usage: 13_heat [cells of a side [steps]]
int main(int count, char** words) try {
  const int n = count > 1 ? std::atoi(words[1]) : 150;
  const int steps = count > 2 ? std::atoi(words[2]) : 51;
  chorale::communicator<> comm;
  const plate mine = heat(comm, n, steps, [](double) {});

  // The whole plate on each rank: the same operations in the same order give the same bits.
  plate whole{{0, n}, {0, n}};
  plate other = whole;
  for (int step = 0; step < steps; ++step) {
    other.step_from(whole, {0, n}, {0, n});
    std::swap(whole, other);
  }
  int wrong = 0;
  for (int i = 0; i < mine.rows.size(); ++i)
    for (int j = 0; j < mine.columns.size(); ++j)
      if (mine.at(i, j) != whole.at(mine.rows.first + i, mine.columns.first + j)) ++wrong;
  wrong = comm.allreduce(wrong, chorale::sum);
  if (comm.rank() == 0)
    fmt::print("{0} x {0} cells, {1} steps on {2} ranks: {3} cells differ from the serial result\n", n, steps,
               comm.size(), wrong);
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "13_heat: {}\n", e.what());
  return 1;
}
