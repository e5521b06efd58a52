// Questions about calls: what ranks ask each other, answer, and say when they leave.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <chorale/core/call.hpp>
#include <chorale/transport/call_record.hpp>
#include <chorale/transport/control_channel.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/failures.hpp>
#include <chorale/transport/liveness.hpp>

namespace chorale::transport {

class membership;
class peer_calls;
class stall_survey;
struct status_answer;

/// Asks peers about their calls, by datagram, and answers their questions, from the service thread where
/// there is one. What it hears is judged by `peer_calls`. On the rank's own thread.
class inquiry {
 public:
  /// All outlive it.
  inquiry(const membership& group, call_record& calls, control_channel& channel, liveness& lives,
          failures& failed, endpoint_user& user);
  inquiry(const inquiry&) = delete;
  inquiry& operator=(const inquiry&) = delete;
  ~inquiry();

  /// Asks `peer` what call `now` is to it; the answer is judged while this rank waits for it, and is a sign
  /// of life.
  void ask(int peer, call_id now);
  /// Answers go to `survey`, too, as long as it is not null.
  void survey(stall_survey* survey) noexcept { survey_ = survey; }

  // Judgements of what peers have said. @throws error errc::mismatch naming both calls as far as they are
  // known.
  /// What `peer` has answered since the last time, if anything: this rank waits for it in call `now`.
  void judge_newest(int peer, call_id now);
  void judge_farewell(int peer, call_id now);
  void judge(int peer, const status_answer& theirs, call_id now);
  /// To be called where a message, of call `seen` as far as 32 bits tell, does not seem to belong to call
  /// `now`. Asks the peer, for 250 ms at most, and returns if its call of that number is the same one: then
  /// what was seen is not all there yet, and is to be looked at again. Not under the lock of the channel.
  void mismatch(int peer, call_id now, std::uint32_t seen);
  void mismatch(int peer, call_id now) { mismatch(peer, now, static_cast<std::uint32_t>(now.number)); }

  // Leaving.
  /// Tells all others that this rank leaves, and looks whether the calls of its neighbours that have left
  /// match: two ranks that each only send in calls that do not, and then end, wait for nothing, so that no
  /// wait finds it. Not under the lock of the channel. @throws error if datagrams can neither be sent nor
  /// read.
  void leave();
  [[nodiscard]] bool has_left() const noexcept { return left_; }

 private:
  void take_question(int from, std::span<const std::byte> body);
  void take_answer(int from, std::span<const std::byte> body);
  void take_farewell(int from, std::span<const std::byte> body);
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
  std::array<control_channel::subscription, 3> subscriptions_;
};

}  // namespace chorale::transport
