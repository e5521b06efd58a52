// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operator_tag.hpp>
#include <chorale/core/types.hpp>

namespace chorale {

const char* name(operation what) noexcept {
  static constexpr const char* names[] = {
      "no call", "barrier", "broadcast", "reduce",   "allreduce", "allgather", "allgatherv",
      "gather",  "gatherv", "scatter",   "scatterv", "alltoall",  "alltoallv", "reduce_scatter",
      "scan",    "exscan",  "split",     "window",   "exchange"};
  const auto index = static_cast<std::size_t>(what);
  return index < std::size(names) ? names[index] : "unknown operation";
}

namespace {

/// "; the block of rank 3 has 8 bytes less", if a different count of a single rank explains the difference.
std::string whose_block(const call& mine, const call& theirs) {
  constexpr std::uint64_t most_ranks = std::uint64_t{1} << 20;
  const std::uint64_t more = mine.bytes - theirs.bytes;
  for (std::uint64_t rank = 0; more != 0 && rank < most_ranks; ++rank) {
    if (more * weight_of(rank) != mine.counts - theirs.counts) continue;
    return mine.bytes > theirs.bytes
               ? fmt::format("{} bytes more in the block of rank {}", more, rank)
               : fmt::format("{} bytes less in the block of rank {}", theirs.bytes - mine.bytes, rank);
  }
  return "other counts of several ranks";
}

/// "fence of window 2".
std::string describe_window(std::uint64_t bytes) {
  constexpr const char* stages[] = {"making", "fence", "end", "unknown use"};
  return fmt::format("{} of window {}", stages[bytes % 4], bytes / 4);
}

}  // namespace

std::string call::describe() const {
  if (what == operation::window) return describe_window(bytes);
  std::string text = name(what);
  if (bytes != 0 || type != 0) text += fmt::format(" of {} bytes", bytes);
  if (root >= 0) text += fmt::format(" with root {}", root);
  return text;
}

std::string call::difference(const call& other) const {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (what == operation::window && other.what == what)
    return describe_window(bytes) + " against " + describe_window(other.bytes);
  if (what != other.what) add(fmt::format("{} against {}", name(what), name(other.what)));
  if (root != other.root) add(fmt::format("root {} against {}", root, other.root));
  if (bytes != other.bytes && what != operation::window && other.what != operation::window)
    add(fmt::format("{} against {} bytes", bytes, other.bytes));
  if (counts != other.counts && counts != 0 && other.counts != 0) add(whose_block(*this, other));
  if (type != other.type) add(fmt::format("{} against {}", describe_type(type), describe_type(other.type)));
  if (reduction != other.reduction)
    add(fmt::format("{} against {}", describe_operator(reduction), describe_operator(other.reduction)));
  return text.empty() ? "the same arguments" : text;
}

void call_id::throw_no_phase(int phase) {
  throw error(
      errc::misuse,
      fmt::format("call_id::later: phase {} of a call, which has phases 0 to {}: run fewer algorithms "
                  "among the same ranks in one call",
                  phase, most_phases - 1));
}

void throw_unequal_sizes(operation what, int to, std::size_t expected, int from, std::size_t sent) {
  throw error(
      errc::mismatch,
      fmt::format("rank {} expects {} bytes from rank {} in {}, which sends {}; both have to give the "
                  "same count for this pair",
                  to, expected, from, name(what), sent),
      {to, from});
}

}  // namespace chorale
