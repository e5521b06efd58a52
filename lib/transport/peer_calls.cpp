// SPDX-License-Identifier: Apache-2.0
#include "peer_calls.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace chorale::transport {
namespace {

/// How often, and for how long, a peer must answer that it has completed the call until a missing message
/// from it counts as never sent. Its answers are datagrams as well, so no loss delays a retransmitted message
/// for that long.
constexpr unsigned overdue_answers = 8;
constexpr auto overdue_time = std::chrono::seconds{1};

/// Messages carry 32 bits of their call's number, always enough for the distance between two calls whose
/// messages can meet.
std::int32_t distance(call_id now, std::uint32_t seen) noexcept {
  return static_cast<std::int32_t>(seen - static_cast<std::uint32_t>(now.number));
}

}  // namespace

peer_calls::peer_calls(int rank, int ranks, const status_page& mine)
    : rank_(rank),
      mine_(&mine),
      answers_(static_cast<std::size_t>(ranks)),
      farewells_(static_cast<std::size_t>(ranks)) {}

peer_calls::verdict peer_calls::judge_newest(int peer, call_id now, clock::time_point time) {
  const auto newest = std::exchange(answers_[static_cast<std::size_t>(peer)], std::nullopt);
  return newest ? judge(peer, *newest, now, time) : std::nullopt;
}

peer_calls::verdict peer_calls::judge_farewell(int peer, call_id now, clock::time_point time) {
  const farewell* const told = farewell_of(peer);
  return told == nullptr ? std::nullopt : judge(peer, told->about(now.number), now, time);
}

peer_calls::verdict peer_calls::judge(int peer, const status_answer& theirs, call_id now,
                                      clock::time_point time) {
  if (now.what == operation::exchange && theirs.current > now.number) {
    // The two ranks' lists of peers disagree, which no signature shows. If the peer had sent a message, it
    // would have arrived.
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
  auto& answer = answers_[static_cast<std::size_t>(peer)];
  if (answer && answer->find(number) != nullptr) return true;
  // A rank that has left does not answer, but its farewell lists its last calls.
  const farewell* const told = farewell_of(peer);
  if (told == nullptr) return false;
  answer = told->about(number);
  return answer->find(number) != nullptr;
}

peer_calls::verdict peer_calls::compare(int peer, call_id now, std::uint32_t seen) {
  const auto& answer = answers_[static_cast<std::size_t>(peer)];
  return compare(peer, now, seen, answer ? answer->find(mismatched_call(now, seen)) : nullptr);
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
    what +=
        fmt::format(" as on rank {}, but what the two send and take there does not fit: {}", peer,
                    ahead < 0 ? "a message of it was never taken" : "the other has gone on without sending");
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
