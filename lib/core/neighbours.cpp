#include <algorithm>

#include <chorale/core/neighbours.hpp>

namespace chorale {

std::vector<int> distances_of_peers(int rank, int ranks, std::span<const outgoing> sends,
                                    std::span<const incoming> takes) {
  std::vector<int> distances;
  const auto add = [&](int peer) {
    if (peer != nobody && peer != rank) distances.push_back(distance_of(peer, rank, ranks));
  };
  for (const outgoing& message : sends) add(message.peer);
  for (const incoming& message : takes) add(message.peer);
  std::sort(distances.begin(), distances.end());
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  return distances;
}

}  // namespace chorale
