// SPDX-License-Identifier: Apache-2.0
// Inquiries about calls: questions and answers between ranks, and farewells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <chorale/core/call.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/liveness/failures.hpp>
#include <chorale/transport/liveness/liveness.hpp>
#include <chorale/transport/observers/call_record.hpp>
#include <chorale/transport/wire/control_channel.hpp>

namespace chorale::transport {

class membership;
class peer_calls;
class stall_survey;
struct status_answer;

/// Asks peers about their calls by datagram, and answers their questions, from the service thread if there is
/// one. `peer_calls` judges the answers. Used on the rank's own thread.
class inquiry {
 public:
  /// All arguments outlive it.
  inquiry(const membership& group, call_record& calls, control_channel& channel, liveness& lives,
          failures& failed, endpoint_user& user);
  inquiry(const inquiry&) = delete;
  inquiry& operator=(const inquiry&) = delete;
  ~inquiry();

  /// Asks `peer` about its call with the number of `now`; the answer is judged while this rank waits for it,
  /// and is a sign of life.
  void ask(int peer, call_id now);
  /// Asks `peer` whether it has a farewell of `absent`, whose process is gone, or which does not answer.
  void ask_about(int absent, int peer);
  /// Also passes answers to `survey` until it is set to null.
  void survey(stall_survey* survey) noexcept { survey_ = survey; }

  // Judgement of what peers have said. @throws error errc::mismatch naming both calls as far as they are
  // known.
  /// Judges new answers of `peer`, if any, while this rank waits for it in call `now`.
  void judge_newest(int peer, call_id now);
  void judge_farewell(int peer, call_id now);
  void judge(int peer, const status_answer& theirs, call_id now);
  /// Call it if a message of call `seen` (its lower 32 bits) does not seem to belong to call `now`. Asks the
  /// peer, for at most 2 s, and returns if its call of that number is the same: then the message is still
  /// incomplete, and should be read again. Not under the lock of the channel.
  void mismatch(int peer, call_id now, std::uint32_t seen);
  void mismatch(int peer, call_id now) { mismatch(peer, now, static_cast<std::uint32_t>(now.number)); }

  // Leaving.
  /// Tells all other ranks that this rank leaves, and checks that its calls match those of neighbours that
  /// have left: two ranks that only send, in calls that do not match, and then end would wait for nothing, so
  /// that no wait could detect the mismatch. Not under the lock of the channel. @throws error if datagrams
  /// can be neither sent nor read.
  void leave();
  [[nodiscard]] bool has_left() const noexcept { return left_; }

 private:
  void take_question(int from, std::span<const std::byte> body);
  void take_answer(int from, std::span<const std::byte> body);
  void take_farewell(int from, std::span<const std::byte> body);
  void take_departure_question(int from, std::span<const std::byte> body);
  void take_departure_answer(int from, std::span<const std::byte> body);
  void compare_farewells() const;

  const membership* group_;
  call_record* calls_;
  control_channel* channel_;
  liveness* lives_;
  failures* failures_;
  endpoint_user* user_;
  std::unique_ptr<peer_calls> peers_;
  stall_survey* survey_ = nullptr;
  bool left_ = false;
  std::array<control_channel::subscription, 5> subscriptions_;
};

}  // namespace chorale::transport
