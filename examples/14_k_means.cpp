// SPDX-License-Identifier: Apache-2.0
// k-means by Lloyd's algorithm: each rank has some of the points, all have the centres. A step is one
// allreduce of all sums; of integers, so that the result is exactly the serial one.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

constexpr std::size_t dimensions = 3;
using point = std::array<std::int64_t, dimensions>;  ///< for example in millimetres
using centre = std::array<double, dimensions>;

/// A pseudo-random number, the same on every rank.
std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Point number `i`, in one of twelve clouds.
point point_at(std::size_t i) {
  point p{};
  const std::uint64_t cloud = scrambled(i + 1) % 12;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::uint64_t middle = scrambled(1000 + cloud * dimensions + d) % 100'000;
    const std::uint64_t within = scrambled(1'000'000 + i * dimensions + d) % 20'000;
    p[d] = static_cast<std::int64_t>(middle + within);
  }
  return p;
}

std::size_t nearest_of(std::span<const centre> centres, const point& p) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < centres.size(); ++c) {
    double distance = 0;
    for (std::size_t d = 0; d < dimensions; ++d)
      distance += (static_cast<double>(p[d]) - centres[c][d]) * (static_cast<double>(p[d]) - centres[c][d]);
    if (distance < least) best = c;
    least = std::min(least, distance);
  }
  return best;
}

struct clustering {
  std::vector<centre> centres;
  std::vector<std::int64_t> sizes;  ///< points of each cluster
  int steps = 0;
  bool operator==(const clustering&) const = default;
};

/// Moves each centre to the mean of the points nearest to it, until no point changes its cluster. `points`
/// are this rank's, `add_up(tally)` sums over all ranks. `worked` receives the number of computed distances,
/// which runs in virtual time need, since computing takes no virtual time by itself (scaling/).
template <class AddUp>
clustering lloyd(std::span<const point> points, std::vector<centre> centres, AddUp&& add_up,
                 const std::function<void(double)>& worked) {
  const std::size_t k = centres.size();
  clustering found{std::move(centres), std::vector<std::int64_t>(k)};
  std::vector<std::size_t> cluster_of(points.size(), k);  // k: none yet
  // For each cluster the sums of the coordinates and the number of points, and at the end the number of
  // points that have changed their cluster: sent together, they cost the time of one message instead of
  // three.
  std::vector<std::int64_t> tally(k * (dimensions + 1) + 1);
  do {
    std::fill(tally.begin(), tally.end(), 0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t nearest = nearest_of(found.centres, points[i]);
      if (nearest != cluster_of[i]) ++tally.back();
      cluster_of[i] = nearest;
      std::int64_t* row = &tally[nearest * (dimensions + 1)];
      for (std::size_t d = 0; d < dimensions; ++d) row[d] += points[i][d];
      ++row[dimensions];
    }
    worked(static_cast<double>(points.size() * k));
    add_up(tally);
    for (std::size_t c = 0; c < k; ++c) {
      const std::int64_t* row = &tally[c * (dimensions + 1)];
      found.sizes[c] = row[dimensions];
      if (found.sizes[c] == 0) continue;  // a centre without points stays where it is
      for (std::size_t d = 0; d < dimensions; ++d)
        found.centres[c][d] = static_cast<double>(row[d]) / static_cast<double>(found.sizes[c]);
    }
  } while (tally.back() != 0 && ++found.steps < 1000);
  return found;
}

/// The initial centres, which are some of the points.
std::vector<centre> first_centres(std::size_t n, std::size_t k) {
  std::vector<centre> centres(k);
  for (std::size_t c = 0; c < k; ++c) {
    const point p = point_at(c * (n / k));
    std::copy(p.begin(), p.end(), centres[c].begin());
  }
  return centres;
}

/// k clusters of n points, which are distributed over the ranks.
clustering k_means(chorale::communicator<>& comm, std::size_t n, std::size_t k,
                   const std::function<void(double)>& worked) {
  if (k == 0 || k > n) throw std::invalid_argument("there must be a cluster, and a point for each");
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
  std::vector<point> mine;  // distributed evenly
  for (std::size_t i = me * n / ranks; i < (me + 1) * n / ranks; ++i) mine.push_back(point_at(i));

  // Rank 0 chooses the centres, as if it had read them from a file.
  std::vector<centre> centres(k);
  if (comm.rank() == 0) centres = first_centres(n, k);
  comm.broadcast(centres, chorale::root{0});
  return lloyd(
      mine, std::move(centres), [&](auto& tally) { comm.allreduce(chorale::in_place, tally, chorale::sum); },
      worked);
}

}  // namespace

// Usage: 14_k_means [points [clusters]]
int main(int count, char** words) try {
  const std::size_t n = count > 1 ? std::strtoul(words[1], nullptr, 10) : 20'011;
  const std::size_t k = count > 2 ? std::strtoul(words[2], nullptr, 10) : 12;
  chorale::communicator<> comm;
  const clustering found = k_means(comm, n, k, [](double) {});

  // The same on one rank, which has all points and needs no sum over ranks.
  std::vector<point> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = point_at(i);
  const clustering serial = lloyd(
      all, first_centres(n, k), [](auto&) {}, [](double) {});
  const bool right = comm.allreduce(found == serial ? 1 : 0, chorale::min) == 1;
  if (comm.rank() == 0)
    fmt::print(
        "{} points in {} clusters on {} ranks: {} steps (serial {}), the largest cluster has {} ({})\n", n, k,
        comm.size(), found.steps, serial.steps, *std::max_element(found.sizes.begin(), found.sizes.end()),
        right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "14_k_means: {}\n", e.what());
  return 1;
}
