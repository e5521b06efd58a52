// SPDX-License-Identifier: Apache-2.0
#include "judge.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

namespace seeds {
namespace {

using namespace std::chrono_literals;
namespace sim = chorale::simulation;

/// From the last fault, or from the last end expected without it, until no rank waits: a wait, and the ends
/// of a communicator, of one inside it and of a window, may each last until the limit of silence.
constexpr sim::duration patience{12s};
/// The same without faults: ranks that leave learn of each other at once.
constexpr sim::duration calm_patience{20ms};
/// More for each rank where connections are limited: peers that are in a call of `split` do not answer
/// requests to close a connection.
constexpr sim::duration calm_patience_a_rank{4ms};
/// More with multicasts: a rank that joins the group after the first multicast asks for that one after eight
/// times the patience of a millisecond or, among 16 ranks, up to 14 ms later.
constexpr sim::duration calm_patience_of_multicasts{25ms};
/// Limits of a rank's own registered memory: a fixed part, and a part for each peer.
constexpr std::size_t most_registered = 4 << 20;
constexpr std::size_t most_registered_a_peer = 2 << 20;

/// The ranks that fail by the plan, and when.
struct failing {
  int rank;
  sim::instant when;
  bool dead;  ///< else its adapter failed
};

std::vector<failing> failing_ranks(const schedule& s) {
  std::vector<failing> all;
  for (const auto& one : s.wrong.deaths) all.push_back({one.rank, one.when, true});
  for (const auto& one : s.wrong.adapter_failures)
    for (int r = 0; r < s.ranks; ++r)
      if (r / s.ranks_per_host == one.host) all.push_back({r, one.when, false});
  return all;
}

bool is_lost(const std::vector<failing>& all, int rank, sim::instant by) {
  return std::ranges::any_of(all, [&](const failing& f) { return f.rank == rank && f.when <= by; });
}

/// The latest time at which the last rank would end without failures, up to some microseconds.
sim::duration longest_span(const schedule& s) {
  sim::duration span{};
  for (const auto& one : s.wrong.stops) span = std::max(span, one.when.time_since_epoch()) + one.time;
  for (const auto& one : failing_ranks(s)) span = std::max(span, one.when.time_since_epoch());
  for (const auto& one : s.wrong.deafnesses) span = std::max(span, one.when.time_since_epoch() + one.time);
  span += s.late.time;
  return span + std::chrono::nanoseconds{static_cast<std::int64_t>(s.longest_pause)} * 3 *
                    static_cast<std::int64_t>(s.calls.size());
}

sim::duration patience_with(const schedule& s) {
  const sim::faults& w = s.wrong;
  const bool is_calm = w.lost + w.delayed + w.held_up == 0 && w.deaths.empty() && w.stops.empty() &&
                       w.deafnesses.empty() && w.adapter_failures.empty();
  if (!is_calm) return patience;
  return calm_patience + (s.settings.connections != 0 ? s.ranks * calm_patience_a_rank : sim::duration{}) +
         (s.multicasts ? calm_patience_of_multicasts : sim::duration{});
}

bool is_code_of_loss(int code) {
  using chorale::errc;
  return std::ranges::any_of(std::array{errc::peer_lost, errc::poisoned, errc::bootstrap_failed},
                             [code](errc e) { return static_cast<int>(e) == code; });
}

/// Ranks whose error names a rank that really failed, or another rank with such an error that has ended a
/// communicator without the failed rank in it: a part, if a rank outside it failed, or the whole, if a rank
/// failed in a part.
std::vector<bool> ranks_with_a_reason(const history& all, const std::vector<failing>& lost) {
  std::vector<bool> have(all.ranks.size());
  const auto has_reason = [&](const fate& one) {
    if (one.end != fate::kind::failed || !is_code_of_loss(one.code)) return false;
    return std::ranges::any_of(one.names, [&](int named) {
      const auto r = static_cast<std::size_t>(named);
      return is_lost(lost, named, one.when) ||
             (r < have.size() && have[r] &&
              (one.in_part ? all.ranks[r].calls == one.calls
                           : all.ranks[r].in_part && all.ranks[r].calls <= one.calls));
    });
  };
  for (bool more = true; more;) {
    more = false;
    for (std::size_t r = 0; r < have.size(); ++r) {
      if (have[r] || !has_reason(all.ranks[r])) continue;
      have[r] = more = true;
    }
  }
  return have;
}

std::string complaint(int rank, const fate& one, bool has_reason, const std::vector<failing>& lost) {
  const auto is_to_die = [&](const failing& f) { return f.rank == rank && f.dead; };
  switch (one.end) {
    case fate::kind::well:
      return {};
    case fate::kind::wrong:
      return fmt::format("rank {}: a wrong result: {}\n", rank, one.text);
    case fate::kind::unfinished:
      return std::ranges::any_of(lost, is_to_die) ? "" : fmt::format("rank {} has not ended\n", rank);
    case fate::kind::failed:
      break;
  }
  // A rank whose own adapter has failed may report it in any words.
  if (has_reason || is_lost(lost, rank, one.when)) return {};
  return fmt::format("rank {} failed at {:.3f} us by an error that names no rank that has: {}\n", rank,
                     static_cast<double>(one.when.time_since_epoch().count()) / 1e6, one.text);
}

/// All ranks make the same calls, and failures are reported as errors, so nothing is printed. But a rank that
/// catches the failure of a part and then leaves the whole has made fewer calls there, which its neighbours
/// may report.
bool may_print(const schedule& s, const history& all) {
  return s.catches && std::ranges::any_of(all.ranks, &fate::in_part);
}

}  // namespace

std::string judge(const schedule& s, const history& all, const outcome& what) {
  const std::vector<failing> lost = failing_ranks(s);
  const std::vector<bool> with_a_reason = ranks_with_a_reason(all, lost);
  std::string text;
  for (std::size_t r = 0; r < all.ranks.size(); ++r) {
    const fate& one = all.ranks[r];
    text += complaint(static_cast<int>(r), one, with_a_reason[r], lost);
    if (one.end == fate::kind::well && one.calls != s.calls.size())
      text += fmt::format("rank {} made {} calls of {}\n", r, one.calls, s.calls.size());
    const std::size_t bound = most_registered + most_registered_a_peer * all.ranks.size();
    if (one.registered > bound)
      text += fmt::format("rank {} had {} bytes registered, more than {}\n", r, one.registered, bound);
  }
  const sim::duration latest = longest_span(s) + patience_with(s);
  if (what.elapsed > latest)
    text += fmt::format("it took {} us of virtual time, {} at most were expected\n",
                        what.elapsed.count() / 1'000'000, latest.count() / 1'000'000);
  if (!what.printed.empty() && !may_print(s, all)) text += "printed: " + what.printed;
  return text;
}

}  // namespace seeds
