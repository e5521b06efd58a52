// SPDX-License-Identifier: Apache-2.0
// Sample sort: sorts keys that are distributed over the ranks. Samples of all ranks determine the cuts, and
// one alltoallv brings each key to the rank that has its part. Source: Shi, Schaeffer: Parallel sorting by
// regular sampling, 1992.
#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

using key = std::uint64_t;

/// Key number `i` of the input: one in three is the same, the others are pseudo-random.
key key_at(std::size_t i) {
  if (i % 3 == 0) return 424'242;
  std::uint64_t x = i + 1;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return (x ^ (x >> 31U)) % 1'000'003;
}

/// A key and its place, so that no two samples are equal: a cut may separate equal keys, so that parts have
/// about the same size however many keys are equal.
struct sample {
  key value;
  std::size_t rank;
  std::size_t place;  ///< among the sorted keys of that rank
  auto operator<=>(const sample&) const = default;
};

/// How many of the sorted keys of rank `me` come before `cut`.
std::size_t before(const std::vector<key>& keys, std::size_t me, const sample& cut) {
  if (cut.rank == me) return cut.place;
  const auto end = me < cut.rank ? std::upper_bound(keys.begin(), keys.end(), cut.value)
                                 : std::lower_bound(keys.begin(), keys.end(), cut.value);
  return static_cast<std::size_t>(end - keys.begin());
}

/// Merges sorted runs, two at a time, of which run r begins at begins[r] and the last ends at the end.
void merge_runs(std::vector<key>& keys, const std::vector<std::size_t>& begins) {
  const auto at = [&](std::size_t run) {
    return keys.begin() + static_cast<std::ptrdiff_t>(run < begins.size() ? begins[run] : keys.size());
  };
  for (std::size_t width = 1; width < begins.size(); width *= 2)
    for (std::size_t run = 0; run + width < begins.size(); run += 2 * width)
      std::inplace_merge(at(run), at(run + width), at(run + 2 * width));
}

/// This rank's part of the keys of all ranks in order: those of rank 0 first. Ranks may have different
/// numbers of keys, or none. `worked` receives the number of comparisons, which runs in virtual time need,
/// since computing takes no virtual time by itself (scaling/).
std::vector<key> sample_sort(chorale::communicator<>& comm, std::vector<key> keys,
                             const std::function<void(double)>& worked) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
  std::sort(keys.begin(), keys.end());
  worked(static_cast<double>(keys.size()) * static_cast<double>(std::bit_width(keys.size())));

  // Samples at equal distances on all ranks, 32 per rank on average: ranks with more keys provide more of
  // them.
  const std::size_t total = comm.allreduce(keys.size(), chorale::sum);
  const std::size_t distance = std::max<std::size_t>(1, total / (32 * ranks));
  std::vector<sample> mine;
  for (std::size_t i = distance / 2; i < keys.size(); i += distance) mine.push_back({keys[i], me, i});
  auto samples = comm.allgatherv(mine).data;
  std::sort(samples.begin(), samples.end());
  worked(static_cast<double>(samples.size()) * static_cast<double>(std::bit_width(samples.size())));

  // The samples are the same on all ranks, and so are the cuts. Keys [begins[r], begins[r + 1]) go to rank r.
  std::vector<std::size_t> begins{0};
  for (std::size_t r = 1; r < ranks; ++r)
    begins.push_back(samples.empty() ? 0 : before(keys, me, samples[r * samples.size() / ranks]));
  begins.push_back(keys.size());
  std::vector<std::size_t> to_send;
  for (std::size_t r = 0; r < ranks; ++r) to_send.push_back(begins[r + 1] - begins[r]);

  // Each rank learns how many keys it receives, and then receives them: one sorted run from each rank.
  const std::vector<std::size_t> to_receive = comm.alltoall(to_send);
  std::vector<std::size_t> runs;
  std::size_t size = 0;
  for (const std::size_t run : to_receive) {
    runs.push_back(size);
    size += run;
  }
  std::vector<key> part(size);
  comm.alltoallv(keys, to_send, part, to_receive);
  merge_runs(part, runs);
  worked(static_cast<double>(size) * static_cast<double>(std::bit_width(ranks - 1)));
  return part;
}

}  // namespace

// Usage: 15_sample_sort [keys]
int main(int count, char** words) try {
  const std::size_t n = count > 1 ? std::strtoul(words[1], nullptr, 10) : 200'003;
  chorale::communicator<> comm;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());

  // The ranks begin with different numbers of keys.
  const auto first = [&](std::size_t rank) { return rank * rank * n / (ranks * ranks); };
  std::vector<key> keys;
  for (std::size_t i = first(me); i < first(me + 1); ++i) keys.push_back(key_at(i));
  const std::vector<key> part = sample_sort(comm, keys, [](double) {});

  // The same on one rank: this rank's part must be found there after the parts of the ranks before it.
  std::vector<key> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(key_at(i));
  std::sort(all.begin(), all.end());
  const std::size_t begin = comm.exscan(part.size(), chorale::initial{0}, chorale::sum);
  const std::size_t total = comm.allreduce(part.size(), chorale::sum);
  const std::size_t largest = comm.allreduce(part.size(), chorale::max);
  const bool mine =
      total == n && std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(begin));
  const bool right = comm.allreduce(mine ? 1 : 0, chorale::min) == 1;
  if (comm.rank() == 0)
    fmt::print("{} keys on {} ranks: the largest part has {}, {:.2f} times the mean ({})\n", total, ranks,
               largest, total == 0 ? 1 : static_cast<double>(largest * ranks) / static_cast<double>(total),
               right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "15_sample_sort: {}\n", e.what());
  return 1;
}
