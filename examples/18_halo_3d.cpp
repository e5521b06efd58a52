// SPDX-License-Identifier: Apache-2.0
// The heat equation in three dimensions: each rank has a box of cells with a layer of its neighbours' cells
// around it. The six faces to send and the six to receive are strided operands in the box; a plan sends and
// receives them in place.
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>
#include <chorale/plan.hpp>

namespace {

using triple = std::array<int, 3>;  // of planes, rows and columns

/// The first of `count` cells that belongs to part `part` of `parts`.
int first_of(int part, int parts, int count) {
  return static_cast<int>(static_cast<long>(count) * part / parts);
}

/// Cells with a layer of other cells around them; index 0 is the first cell inside.
class box {
 public:
  explicit box(const triple& size)
      : size_(size),
        distance_{static_cast<long>(size[1] + 2) * (size[2] + 2), size[2] + 2, 1},
        cells_(static_cast<std::size_t>((size[0] + 2) * distance_[0])) {}

  [[nodiscard]] const triple& size() const { return size_; }
  double& at(int plane, int row, int column) { return cells_[index({plane, row, column})]; }
  [[nodiscard]] double at(int plane, int row, int column) const {
    return cells_[index({plane, row, column})];
  }
  /// The inner cells at index `layer` along `axis`: two loops over the other axes.
  chorale::strided<double> face(std::size_t axis, int layer) {
    triple corner{};
    corner[axis] = layer;
    const std::size_t outer = axis == 0 ? 1 : 0;
    const std::size_t inner = axis == 2 ? 1 : 2;
    return {&cells_[index(corner)], {{size_[outer], distance_[outer]}, {size_[inner], distance_[inner]}}};
  }

 private:
  [[nodiscard]] std::size_t index(const triple& at) const {
    return static_cast<std::size_t>((at[0] + 1) * distance_[0] + (at[1] + 1) * distance_[1] + at[2] + 1);
  }

  triple size_;
  std::array<long, 3> distance_;
  std::vector<double> cells_;
};

/// The numbers of ranks along the axes, such that the boxes are roughly cubes.
triple grid_of(int ranks) {
  triple grid{1, 1, 1};
  for (int prime = 2; ranks > 1; ++prime)
    for (; ranks % prime == 0; ranks /= prime) {
      std::size_t least = 0;
      for (std::size_t axis = 1; axis < 3; ++axis)
        if (grid[axis] < grid[least]) least = axis;
      grid[least] *= prime;
    }
  return grid;
}

/// A plan that sends the faces of `b` to the neighbours of `place` in a periodic grid. Two ranks may be
/// neighbours on both sides: then the message down, which is the first that one of them sends, is the first
/// that the other receives, into its upper layer.
chorale::plan halo_of(chorale::communicator<>& comm, box& b, const triple& grid, const triple& place) {
  std::vector<chorale::outgoing> sends;
  std::vector<chorale::incoming> takes;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto neighbour = [&](int step) {
      triple there = place;
      there[axis] = (there[axis] + step + grid[axis]) % grid[axis];
      return (there[0] * grid[1] + there[1]) * grid[2] + there[2];
    };
    const int last = b.size()[axis] - 1;
    sends.push_back(chorale::to(neighbour(-1), b.face(axis, 0)));
    sends.push_back(chorale::to(neighbour(+1), b.face(axis, last)));
    takes.push_back(chorale::from(neighbour(+1), b.face(axis, last + 1)));
    takes.push_back(chorale::from(neighbour(-1), b.face(axis, -1)));
  }
  return comm.plan_exchange(sends, takes);
}

double first_value(int plane, int row, int column) {
  return std::sin(0.3 * plane) + std::cos(0.7 * row) * (column % 5);
}
double next_value(double here, double down, double up, double before, double behind, double left,
                  double right) {
  return here + 0.1 * ((down + up) + (before + behind) + (left + right) - 6 * here);
}

/// The same on one rank, with indices that wrap around.
std::vector<double> serial(const triple& size, int steps) {
  const auto index = [&](int p, int r, int c) {
    const auto wrapped = [](int i, int n) { return static_cast<std::size_t>((i + n) % n); };
    return (wrapped(p, size[0]) * static_cast<std::size_t>(size[1]) + wrapped(r, size[1])) *
               static_cast<std::size_t>(size[2]) +
           wrapped(c, size[2]);
  };
  std::vector<double> now(static_cast<std::size_t>(size[0]) * static_cast<std::size_t>(size[1]) *
                          static_cast<std::size_t>(size[2]));
  std::vector<double> next(now.size());
  const auto each = [&](auto&& value, std::vector<double>& into) {
    for (int p = 0; p < size[0]; ++p)
      for (int r = 0; r < size[1]; ++r)
        for (int c = 0; c < size[2]; ++c) into[index(p, r, c)] = value(p, r, c);
  };
  each(first_value, now);
  for (int step = 0; step < steps; ++step) {
    each(
        [&](int p, int r, int c) {
          return next_value(now[index(p, r, c)], now[index(p - 1, r, c)], now[index(p + 1, r, c)],
                            now[index(p, r - 1, c)], now[index(p, r + 1, c)], now[index(p, r, c - 1)],
                            now[index(p, r, c + 1)]);
        },
        next);
    std::swap(now, next);
  }
  return now;
}

}  // namespace

// Usage: 18_halo_3d [cells along the longest axis [steps]]
int main(int count, char** words) try {
  const int n = count > 1 ? std::atoi(words[1]) : 40;
  const int steps = count > 2 ? std::atoi(words[2]) : 20;
  chorale::communicator<> comm;
  const triple whole{n, n - 3, n - 5};
  const triple grid = grid_of(comm.size());
  const triple place{comm.rank() / (grid[1] * grid[2]), comm.rank() / grid[2] % grid[1],
                     comm.rank() % grid[2]};
  triple first{};
  triple size{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    first[axis] = first_of(place[axis], grid[axis], whole[axis]);
    size[axis] = first_of(place[axis] + 1, grid[axis], whole[axis]) - first[axis];
  }

  // The steps go back and forth between two boxes.
  std::array<box, 2> boxes{box{size}, box{size}};
  std::array<chorale::plan, 2> halos{halo_of(comm, boxes[0], grid, place),
                                     halo_of(comm, boxes[1], grid, place)};
  const auto each = [&](auto&& use) {
    for (int p = 0; p < size[0]; ++p)
      for (int r = 0; r < size[1]; ++r)
        for (int c = 0; c < size[2]; ++c) use(p, r, c);
  };
  each([&](int p, int r, int c) {
    boxes[0].at(p, r, c) = first_value(first[0] + p, first[1] + r, first[2] + c);
  });
  for (int step = 0; step < steps; ++step) {
    const auto now = static_cast<std::size_t>(step % 2);
    halos[now].run();
    const box& from = boxes[now];
    box& to = boxes[1 - now];
    each([&](int p, int r, int c) {
      to.at(p, r, c) =
          next_value(from.at(p, r, c), from.at(p - 1, r, c), from.at(p + 1, r, c), from.at(p, r - 1, c),
                     from.at(p, r + 1, c), from.at(p, r, c - 1), from.at(p, r, c + 1));
    });
  }

  const box& result = boxes[static_cast<std::size_t>(steps % 2)];
  const std::vector<double> expected = serial(whole, steps);
  long mine = 0;
  each([&](int p, int r, int c) {
    const auto at = (static_cast<std::size_t>(first[0] + p) * static_cast<std::size_t>(whole[1]) +
                     static_cast<std::size_t>(first[1] + r)) *
                        static_cast<std::size_t>(whole[2]) +
                    static_cast<std::size_t>(first[2] + c);
    if (result.at(p, r, c) != expected[at]) ++mine;
  });
  const long wrong = comm.allreduce(mine, chorale::sum);
  if (comm.rank() == 0)
    fmt::print("{} x {} x {} cells, {} steps on {} x {} x {} ranks: {} cells differ from the serial result\n",
               whole[0], whole[1], whole[2], steps, grid[0], grid[1], grid[2], wrong);
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "18_halo_3d: {}\n", e.what());
  return 1;
}
