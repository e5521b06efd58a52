// SPDX-License-Identifier: Apache-2.0
#include "stall_text.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace chorale::transport {
namespace {

using activity = stall_report::activity;

constexpr std::size_t most_described = 8;
constexpr std::size_t most_listed = 16;

std::string describe(const stall_report::rank_state& s) {
  switch (s.what) {
    case activity::waits:
      return fmt::format("rank {} waits for {} in {}", s.rank, name_of_awaited(s.waits_for), s.call);
    case activity::calls:
      return fmt::format("rank {} is in {}", s.rank, s.call);
    case activity::computes:
      return s.call.empty()
                 ? fmt::format("rank {} computes, or is in another communicator, and has made no call yet",
                               s.rank)
                 : fmt::format("rank {} computes, or is in another communicator; its last call was {}",
                               s.rank, s.call);
    case activity::stopped:
      return fmt::format("rank {} is stopped, by a signal or a debugger", s.rank);
    case activity::silent:
      return fmt::format("rank {} has not answered", s.rank);
    case activity::left:
      return fmt::format("rank {} has left", s.rank);
  }
  return {};
}

}  // namespace

stall_report::rank_state state_of(int rank, const std::optional<status_answer>& answer) {
  stall_report::rank_state s;
  s.rank = rank;
  if (!answer) return s;
  if (answer->latest_known != 0)
    s.call = fmt::format("{} (call {})", answer->latest.describe(), answer->current);
  if (answer->waits_for != status_page::for_none) {
    s.what = activity::waits;
    s.waits_for = answer->waits_for;
  } else {
    s.what = answer->current == answer->completed ? activity::computes : activity::calls;
  }
  return s;
}

std::string describe_ranks(std::vector<stall_report::rank_state> ranks) {
  // Ranks that do not wait first: all others ultimately wait for them.
  std::stable_partition(ranks.begin(), ranks.end(), [](const auto& s) { return s.what != activity::waits; });
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_described); ++i) text += "; " + describe(ranks[i]);
  if (ranks.size() > most_described)
    text += fmt::format("; and {} more ranks", ranks.size() - most_described);
  return text;
}

std::string name_of_awaited(int rank) {
  return rank < 0 ? std::string{"any rank"} : fmt::format("rank {}", rank);
}

std::string list_of(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_listed); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  if (ranks.size() > most_listed) text += fmt::format(" and {} more", ranks.size() - most_listed);
  return text;
}

std::string order_hint(const config& settings) {
  if (settings.placement != placement_policy::ordered) return {};
  return "; data are announced by order, as CHORALE_PLACEMENT=ordered says: where the fabric does not keep "
         "it, "
         "calls hang or give wrong results";
}

}  // namespace chorale::transport
