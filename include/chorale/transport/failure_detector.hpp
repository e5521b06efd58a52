// Which ranks are alive, and how long a wait may go on: judged from events and times alone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <chorale/core/attention.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/lean_chrono.hpp>

namespace chorale::transport {

/// Knows of each peer whether it is heard, silent, gone or dead, and gives verdicts on waits. It has no
/// device, clock or socket: its owner tells it what happens and when. Not thread-safe.
///
/// Time is *attended* time: a gap between two polls counts as `longest_gap` at most. So a rank that was
/// stopped, had no core or computed holds nothing of that against its peers, and none of its own deadlines
/// runs meanwhile. Looks come every millisecond or so while a rank waits.
class failure_detector {
 public:
  using duration = clock::duration;
  using time_point = clock::time_point;

  /// Longer than a rank that waits ever pauses, shorter than a machine's stalls of seconds.
  static constexpr std::chrono::milliseconds longest_gap{500};
  /// Questions without an answer that silence takes at least: some may have been lost.
  static constexpr unsigned fewest_questions = 8;
  /// What a peer sent before it left or died may be overtaken by the news of that.
  static constexpr std::chrono::milliseconds last_messages{100};
  /// A dead peer that nobody waits for ends the wait for another one only after this time, since its farewell
  /// may be on the way.
  static constexpr std::chrono::milliseconds farewell{500};

  struct limits {
    duration silence{};   ///< without a sign of life after which a peer counts as lost
    duration stall{};     ///< of a wait after which it is reported
    duration deadline{};  ///< of a wait after which it fails; zero: none
  };
  /// `peers`: their number; they are named by 0 to peers - 1.
  failure_detector(int peers, const limits& l);

  // Events.
  /// The owner looks, now: attended time goes on.
  void look(time_point now) noexcept;
  /// A sign of life of `peer` came: a datagram, or an acknowledgement of its adapter.
  void hear(int peer) noexcept;
  /// `peer` was asked something that it answers as long as it is alive.
  void ask(int peer);
  /// `peer` has ended its communicator. Known from now on; its time counts from the next look, since this
  /// rank may not have run for a while when it reads of it.
  void leave(int peer) noexcept;
  /// `peer` is dead: its process is gone.
  void die(int peer) noexcept;

  // What is known.
  [[nodiscard]] duration attended() const noexcept { return attended_; }
  [[nodiscard]] bool has_left(int peer) const noexcept { return at(peer).left.has_value(); }
  [[nodiscard]] bool is_dead(int peer) const noexcept { return at(peer).died.has_value(); }
  /// True if it has left or is dead: nothing will come from it.
  [[nodiscard]] bool is_gone(int peer) const noexcept { return has_left(peer) || is_dead(peer); }
  /// True if it was asked often enough, for long enough, and has given no sign of life since.
  [[nodiscard]] bool is_silent(int peer) const noexcept;
  /// Attended time since its last sign of life or the first question after it, whichever was later; zero if
  /// no question is open.
  [[nodiscard]] duration silence_of(int peer) const noexcept;
  /// Peers that owe an answer to an earlier question: they are to be asked again.
  [[nodiscard]] const std::vector<int>& suspects() const noexcept { return suspects_; }

  enum class outcome {
    go_on,
    dead,      ///< the verdict's peer is dead
    left,      ///< the awaited peer has left; all have if any was awaited
    silent,    ///< the verdict's peer gives no sign of life
    deadline,  ///< the wait took too long, of who waits
    /// The wait goes on, and is to be reported: once at `stall`, then in doubled intervals. Of who only
    /// passes by it is not, but when it is waited for again.
    stalled,
  };
  struct verdict {
    outcome what = outcome::go_on;
    int peer = -1;
    bool operator==(const verdict&) const = default;
  };

  /// A wait for `peer`, or for any peer if that is negative.
  struct wait {
    int peer = -1;
    duration since{};
    duration next_report{};
    duration report_interval{};
    verdict suspicion{};               ///< how it would have ended at the judgement before
    attention how = attention::waits;  ///< of who has it judged
  };
  [[nodiscard]] wait begin(int peer) const noexcept;
  /// Judges a wait at the time of the last look. Its owner tests what it waits for between two judgements; a
  /// wait ends only where two in a row say so. What is awaited may have come with the farewell that ends the
  /// wait, or while this rank did not run, and nobody has looked for it since.
  verdict judge(wait& w) const noexcept;
  [[nodiscard]] duration waited(const wait& w) const noexcept { return attended_ - w.since; }

 private:
  struct peer_state {
    duration heard{};
    duration asked{};  ///< the first question since it was heard
    unsigned questions = 0;
    std::optional<duration> left;
    std::optional<duration> died;
  };
  [[nodiscard]] const peer_state& at(int peer) const noexcept {
    return peers_[static_cast<std::size_t>(peer)];
  }
  [[nodiscard]] peer_state& at(int peer) noexcept { return peers_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] bool all_left(const wait& w) const noexcept;
  [[nodiscard]] verdict end_of(const wait& w) const noexcept;

  limits limits_;
  std::vector<peer_state> peers_;
  std::vector<int> suspects_;
  std::vector<int> dead_;
  std::vector<int> leaving_;  ///< since the last look
  int left_ = 0;
  duration attended_{};
  std::optional<time_point> last_look_;
};

}  // namespace chorale::transport
