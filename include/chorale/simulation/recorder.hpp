// What happens in a simulation, noted while it happens.
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

/// What time went by with.
enum class activity : std::uint8_t {
  // Of a rank's processor: they follow each other without a gap.
  call,              ///< the library, once for each collective call
  copy,              ///< from memory to memory
  combine,           ///< two operands by an operator
  send,              ///< the library, for a message that it sends
  receive,           ///< the library, for a message from a receive queue
  match,             ///< the library, finding who receives a message, as message passing does
  post,              ///< send requests, to the adapter
  post_receive,      ///< receive requests, likewise
  poll,              ///< taking completions
  registration,      ///< memory is made known to the adapter, or no longer
  wake,              ///< a thread comes back from sleep
  compute,           ///< what the program says with `simulation::compute`
  wait_for_message,  ///< ended by what a message has brought
  wait_for_answer,   ///< ended by an acknowledgement, or by what a read or an atomic operation returned
  wait,              ///< ended by nothing that came: a sleep, a deadline, an exchange of the bootstrap
  // Of a message: they follow each other, from posting to where it is seen in memory.
  leave,  ///< until its first byte is on the link: in the queue, in the adapter, behind others
  wire,   ///< until its last byte is at the other adapter
  place,  ///< until it is seen in memory, or in the completion queue
  // Of the answer to it, from the other adapter back.
  answer_leave,  ///< from when the request is there; an acknowledgement takes no time
  answer_wire,   ///< until its last byte is back
  answer_place,  ///< until it is seen in memory, or in the completion queue
};

[[nodiscard]] const char* name(activity what) noexcept;  ///< In words, as pictures and traces have it.
/// Whether it is a message's, not a processor's.
[[nodiscard]] constexpr bool is_of_message(activity what) noexcept {
  return what >= activity::leave;
}
/// Whether it is a wait of a processor.
[[nodiscard]] constexpr bool is_wait(activity what) noexcept {
  return what >= activity::wait_for_message && what <= activity::wait;
}

/// That somebody did something from `begin` to `end`.
struct record {
  activity what = activity::wait;  ///< with what the time went by
  /// Of the rank: 0 is its program, others are its helpers. Of a message: who posted it.
  std::uint16_t thread = 0;
  int rank = -1;            ///< whose processor it was; of a message and of its answer, who sent that
  int peer = -1;            ///< of a post: where to; of a message: who got it; -1: nobody, or a group
  std::uint64_t bytes = 0;  ///< of payload; of a poll, how many completions
  /// Of a wait that was ended by one, and of its own activities: the number of the message, from 1. Of a
  /// post: that of its first message; others follow. An answer has the number of what it answers.
  std::uint64_t message = 0;
  instant begin{};  ///< of virtual time
  instant end{};    ///< likewise
};

/// What a program has given a name (`phase`).
struct phase_record {
  std::uint32_t name = 0;    ///< number of its name
  std::uint16_t thread = 0;  ///< as of a record
  int rank = -1;             ///< which had it
  std::uint64_t bytes = 0;   ///< as the program says
  instant begin{};           ///< of virtual time
  instant end{};             ///< likewise
};

/// From then until then. That of phases is from where the first of them begins to where the last ends.
struct window {
  instant begin{};  ///< of virtual time
  instant end{};    ///< likewise
};

/// From where the first of them begins to where the last ends.
[[nodiscard]] window window_of(const std::vector<phase_record>& phases) noexcept;

/// Notes what a simulation does (`run_options::record`), in the order in which it ends. Ranks, messages and
/// instants are the same each time for the same program, machine and seed, and so are the notes.
///
/// It keeps the newest records, up to a bound; the oldest go, and `complete_since` says from when on none is
/// missing. What lasts when the simulation ends, and messages that never came, are not noted.
///
/// Each has the records of one run. Not thread-safe.
class recorder {
 public:
  /// Records of 48 bytes: about 200 MB.
  static constexpr std::size_t usual_bound = std::size_t{1} << 22;

  /// Keeps `most` records, and as many phases. @throws error errc::invalid_argument if that is none.
  explicit recorder(std::size_t most = usual_bound);

  // For who looks at it afterwards.

  /// The records, in the order in which they ended.
  [[nodiscard]] const std::deque<record>& records() const noexcept { return records_; }
  /// The phases, likewise.
  [[nodiscard]] const std::deque<phase_record>& phases() const noexcept { return phases_; }
  /// The name of a phase of this recorder.
  [[nodiscard]] const std::string& name_of(const phase_record& of) const { return names_.at(of.name); }
  /// All that ended after it is here.
  [[nodiscard]] instant complete_since() const noexcept { return complete_since_; }
  /// How many records were made, those included that are gone.
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }
  /// The last phase of that name on each rank that had one, in the order of the ranks.
  /// @throws error errc::invalid_argument if there is none.
  [[nodiscard]] std::vector<phase_record> last_phases(std::string_view name) const;

  // For the simulation.

  void add(const record& one) noexcept;               ///< Notes a record.
  void add(std::string_view name, phase_record one);  ///< Notes a phase of that name.
  /// The first of so many new numbers of messages.
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

/// While it lives, the rank that runs is in a phase of its program, which the recorder notes under a name: a
/// call that is measured, a step of a solver. Phases may lie within others. Takes no virtual time; nothing
/// where nobody records.
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
