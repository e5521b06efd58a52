// SPDX-License-Identifier: Apache-2.0
#include "peer_calls.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace chorale::transport {
namespace {

/// How often, and for how long, a peer must answer that it has completed the call until a missing message
/// from it counts as never sent. Its answers are datagrams as well, so no loss delays a retransmitted message
/// for that long.
constexpr unsigned overdue_answers = 8;
constexpr auto overdue_time = std::chrono::seconds{1};

/// Number of different farewells with which a new one is compared, so that equal ones are kept once.
constexpr std::ptrdiff_t compared_farewells = 8;

/// Messages carry 32 bits of their call's number, always enough for the distance between two calls whose
/// messages can meet.
std::int32_t distance(call_id now, std::uint32_t seen) noexcept {
  return static_cast<std::int32_t>(seen - static_cast<std::uint32_t>(now.number));
}

}  // namespace

void peer_calls::take(int from, const farewell& told) {
  const auto is_same = [&](const farewell* known) {
    return known != nullptr && std::memcmp(known, &told, sizeof told) == 0;
  };
  if (is_same(farewell_of(from))) return;
  const auto newest = told_.end() - std::min<std::ptrdiff_t>(compared_farewells, std::ssize(told_));
  auto same = std::find_if(newest, told_.end(), [&](const auto& known) { return is_same(known.get()); });
  if (same == told_.end()) same = told_.insert(same, std::make_unique<farewell>(told));
  farewells_[from] = same->get();
}

peer_calls::verdict peer_calls::judge_newest(int peer, call_id now, clock::time_point time) {
  const auto newest = answers_.extract(peer);
  return newest ? judge(peer, newest.mapped(), now, time) : std::nullopt;
}

peer_calls::verdict peer_calls::judge_farewell(int peer, call_id now, clock::time_point time) {
  const farewell* const told = farewell_of(peer);
  return told == nullptr ? std::nullopt : judge(peer, told->about(now.number), now, time);
}

peer_calls::verdict peer_calls::judge(int peer, const status_answer& theirs, call_id now,
                                      clock::time_point time) {
  if (now.what == operation::exchange && theirs.completed >= now.number && theirs.current > now.number) {
    // The two ranks' lists of peers disagree, which no signature shows. If the peer had sent a message, it
    // would have arrived. A later call alone shows nothing, since it may be a nonblocking one.
    if (overdue_.peer != peer || overdue_.now != now.number) overdue_ = {peer, now.number, 0, time};
    if (++overdue_.answers >= overdue_answers && time - overdue_.since > overdue_time) {
      return error(
          errc::mismatch,
          fmt::format("rank {} waits in exchange (call {}) for rank {}, which has completed that call "
                      "without rank {} and is in call {}; what one rank sends, the other has to take",
                      rank_, now.number, peer, rank_, theirs.current),
          {rank_, peer});
    }
  }
  const call* c = theirs.find(now.number);
  if (c == nullptr || c->signature() == now.signature) return std::nullopt;
  return compare(peer, now, static_cast<std::uint32_t>(now.number), c);
}

std::uint64_t peer_calls::mismatched_call(call_id now, std::uint32_t seen) noexcept {
  const std::int64_t ahead = distance(now, seen);
  return ahead < 0 ? now.number - static_cast<std::uint64_t>(-ahead) : now.number;
}

bool peer_calls::has_answered(int peer, std::uint64_t number) {
  if (const auto known = answers_.find(peer);
      known != answers_.end() && known->second.find(number) != nullptr)
    return true;
  // A rank that has left does not answer, but its farewell lists its last calls.
  const farewell* const told = farewell_of(peer);
  if (told == nullptr) return false;
  const status_answer& answer = answers_.insert_or_assign(peer, told->about(number)).first->second;
  return answer.find(number) != nullptr;
}

peer_calls::verdict peer_calls::compare(int peer, call_id now, std::uint32_t seen) {
  const auto answer = answers_.find(peer);
  return compare(peer, now, seen,
                 answer == answers_.end() ? nullptr : answer->second.find(mismatched_call(now, seen)));
}

peer_calls::verdict peer_calls::compare(int peer, call_id now, std::uint32_t seen, const call* theirs) {
  const std::int32_t ahead = distance(now, seen);
  const std::uint64_t number = mismatched_call(now, seen);
  const auto mine = mine_->find(number);
  const bool same = theirs != nullptr && mine && theirs->signature() == mine->signature();
  if (same) {
    // The message may still be incomplete; a second sighting of the same state proves that it is not.
    const stray_message here{peer, seen, now.number};
    if (ahead == 0 || std::exchange(stray_, here) != here) return std::nullopt;
  }
  std::string what =
      fmt::format("call {} on rank {} is {}", number, rank_, mine ? mine->describe() : "unknown");
  if (same)
    what += fmt::format(
        " as on rank {}, but what the two send and take there does not fit: {}", peer,
        ahead < 0 ? "a message of it was never taken" : "the other has continued without sending");
  else if (mine && theirs != nullptr)
    what += fmt::format(", on rank {} it is {} ({})", peer, theirs->describe(), mine->difference(*theirs));
  else
    what += fmt::format(", on rank {} it is another one", peer);
  return error(errc::mismatch, what + "; all ranks must make the same calls in the same order",
               {rank_, peer});
}

std::optional<std::string> peer_calls::difference(int peer) const {
  const farewell* const told = farewell_of(peer);
  return told == nullptr ? std::nullopt : farewell{*mine_}.difference(*told);
}

}  // namespace chorale::transport
