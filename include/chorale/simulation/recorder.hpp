// SPDX-License-Identifier: Apache-2.0
// Records of what happens in a simulation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// How time was spent.
enum class activity : std::uint8_t {
  // Activities of a rank's processor, which follow each other without a gap.
  call,              ///< the library, once for each collective call
  copy,              ///< from memory to memory
  combine,           ///< two operands by an operator
  send,              ///< the library, for each message that it sends
  receive,           ///< the library, for each message from a receive queue
  match,             ///< the library, matching a message with a receive, as in message passing
  post,              ///< posting send requests
  post_receive,      ///< posting receive requests
  poll,              ///< polling completions
  registration,      ///< registering or deregistering memory
  wake,              ///< a thread wakes up
  compute,           ///< the program's `simulation::compute`
  wait_for_message,  ///< ended by the content of a message
  wait_for_answer,   ///< ended by an acknowledgement, or by the result of a read or an atomic operation
  wait,              ///< ended by no message: a sleep, a deadline, an exchange of the bootstrap
  // Stages of a message, which follow each other from posting to visibility in memory.
  leave,  ///< until its first byte is on the link: in the queue, in the adapter, behind other messages
  wire,   ///< until its last byte is at the other adapter
  place,  ///< until it is visible in memory, or in the completion queue
  // Stages of the answer to a message, on its way back.
  answer_leave,  ///< from the arrival of the request; takes no time for an acknowledgement
  answer_wire,   ///< until its last byte is back
  answer_place,  ///< until it is visible in memory, or in the completion queue
};

[[nodiscard]] const char* name(activity what) noexcept;  ///< In words, as used in pictures and traces.
/// Whether the activity is a message's, not a processor's.
[[nodiscard]] constexpr bool is_of_message(activity what) noexcept {
  return what >= activity::leave;
}
/// Whether the activity is a wait of a processor.
[[nodiscard]] constexpr bool is_wait(activity what) noexcept {
  return what >= activity::wait_for_message && what <= activity::wait;
}

/// One activity from `begin` to `end`.
struct record {
  activity what = activity::wait;  ///< the activity
  /// Of the rank: 0 is its program, others are its helpers. Of a message: the thread that posted it.
  std::uint16_t thread = 0;
  int rank = -1;            ///< the processor's rank; of a message or an answer, its sender
  int peer = -1;            ///< of a post: the target; of a message: the receiver; -1: none, or a group
  std::uint64_t bytes = 0;  ///< of payload; of a poll, the number of completions
  /// The number, from 1, of the message that this stage belongs to, or that ended this wait. Of a post: the
  /// number of its first message; the others follow. An answer has the number of its message.
  std::uint64_t message = 0;
  instant begin{};  ///< of virtual time
  instant end{};    ///< likewise
};

/// A phase that a program has named (`phase`).
struct phase_record {
  std::uint32_t name = 0;    ///< index of its name
  std::uint16_t thread = 0;  ///< as in a record
  int rank = -1;             ///< the rank that was in it
  std::uint64_t bytes = 0;   ///< as given by the program
  instant begin{};           ///< of virtual time
  instant end{};             ///< likewise
};

/// A span of time.
struct window {
  instant begin{};  ///< of virtual time
  instant end{};    ///< likewise
};

/// From the earliest begin of these phases to the latest end.
[[nodiscard]] window window_of(const std::vector<phase_record>& phases) noexcept;

/// Records a simulation (`run_options::record`), in the order in which activities end. The same program,
/// machine and seed give the same records.
///
/// Keeps the newest records, up to a bound; none that ended after `complete_since` is missing. Activities
/// that have not ended when the simulation ends, and messages that never arrived, are not recorded.
///
/// A recorder holds the records of one run. Not thread-safe.
class recorder {
 public:
  /// Records of 48 bytes: about 200 MB.
  static constexpr std::size_t usual_bound = std::size_t{1} << 22;

  /// Keeps `most` records, and as many phases. @throws error errc::invalid_argument if `most` is 0.
  explicit recorder(std::size_t most = usual_bound);

  // For the evaluation.

  /// The records, in the order in which they ended.
  [[nodiscard]] const std::deque<record>& records() const noexcept { return records_; }
  /// The phases, in the order in which they ended.
  [[nodiscard]] const std::deque<phase_record>& phases() const noexcept { return phases_; }
  /// The name of a phase of this recorder.
  [[nodiscard]] const std::string& name_of(const phase_record& of) const { return names_.at(of.name); }
  /// All records that ended after this instant are here.
  [[nodiscard]] instant complete_since() const noexcept { return complete_since_; }
  /// The number of records made, including dropped ones.
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }
  /// The last phase of that name on each rank that had one, in the order of ranks.
  /// @throws error errc::invalid_argument if there is none.
  [[nodiscard]] std::vector<phase_record> last_phases(std::string_view name) const;

  // For the simulation.

  void add(const record& one) noexcept;               ///< Adds a record.
  void add(std::string_view name, phase_record one);  ///< Adds a phase of that name.
  /// The first of `count` new numbers of messages.
  [[nodiscard]] std::uint64_t take_numbers(std::size_t count) noexcept;

 private:
  std::uint32_t number_of(std::string_view name);

  std::size_t most_;
  std::deque<record> records_;
  std::deque<phase_record> phases_;
  std::vector<std::string> names_;
  std::uint64_t messages_ = 0;
  std::uint64_t made_ = 0;
  instant complete_since_{};
};

/// During its lifetime the running rank is in a phase of its program, which the recorder notes under a name:
/// a measured call, a step of a solver. Phases may be nested. Takes no virtual time; has no effect without a
/// recorder.
class [[nodiscard]] phase {
 public:
  /// @throws error errc::misuse outside of `run`.
  explicit phase(std::string name, std::uint64_t bytes = 0);
  ~phase();
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;

 private:
  std::string name_;
  phase_record noted_;
};

}  // namespace chorale::simulation
