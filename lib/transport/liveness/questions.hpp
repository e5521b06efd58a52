// SPDX-License-Identifier: Apache-2.0
// When a rank asks others, asks again, judges without an answer, and repeats its farewell.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Questions between ranks and their answers may be lost, so they are repeated. Not thread-safe.
class repeated_question {
 public:
  /// True if the question is due: at once, and then every 40 ms.
  [[nodiscard]] bool is_due(clock::time_point time) noexcept {
    if (time < next_) return false;
    next_ = time + interval;
    return true;
  }
  /// Starts over for another question.
  void restart() noexcept { next_ = {}; }

 private:
  static constexpr auto interval = std::chrono::milliseconds{40};
  clock::time_point next_{};
};

/// How a rank resolves a message that does not seem to belong to its call: it asks the sender of that message
/// about its call. The sender was alive when it sent the message, so it gets a short time to answer, and no
/// more. Sans-I/O: times and facts come in, steps come out. Not thread-safe.
class mismatch_query {
 public:
  /// What is known about the sender.
  struct facts {
    bool has_answered = false;  ///< it has said what its call of that number is
    bool is_gone = false;       ///< its farewell has been read, or it is dead
    bool has_failed = false;    ///< a failure notice has arrived: a rank that has failed no longer answers
  };
  enum class step {
    ask,    ///< ask it, and read datagrams
    read,   ///< read datagrams
    judge,  ///< decide by what is known now
  };

  explicit mismatch_query(clock::time_point time) noexcept : until_(time + answer_time) {}
  /// The next step at this time.
  [[nodiscard]] step next(clock::time_point time, const facts& known) noexcept {
    if (known.has_answered || known.has_failed || known.is_gone || time >= until_) return step::judge;
    return question_.is_due(time) ? step::ask : step::read;
  }

 private:
  /// Time for a live rank to answer. It does so from inside its waits, whose naps last at most 1 ms, or by
  /// its service thread; but where ranks outnumber cores many times, it may wait long for a core. Without the
  /// answer, an error cannot say what differs, and an incomplete message cannot be told from one of another
  /// call.
  static constexpr auto answer_time = std::chrono::seconds{2};

  repeated_question question_;
  clock::time_point until_;
};

/// Farewells are not acknowledged, since the peer may be leaving as well. A rank that misses one considers
/// this rank silent after a while, and a wait for it fails late, without the reason. So farewells are sent in
/// rounds, the first in quick succession, the later ones far enough apart that an overflowing receive queue,
/// or a peer without a core for a moment, does not lose them all. The first round goes to the whole audience
/// (`farewell_audience`), since those that have sent a farewell may still wait for one from this rank; later
/// rounds go only to ranks that have not sent theirs. If all ranks leave at once, the first round is often
/// the last. If one datagram in ten is lost, one rank in 10^10 misses all rounds; if three in ten are, one in
/// 10^5. Not thread-safe.
class farewell_rounds {
 public:
  static constexpr int most = 10;

  [[nodiscard]] bool is_due(clock::time_point now) const noexcept { return rounds_ < most && now >= next_; }
  /// A round was sent to the ranks that still read datagrams. Precondition: is_due(now).
  void note(clock::time_point now) noexcept {
    ++rounds_;
    if (rounds_ > quick) pause_ *= 2;
    next_ = now + pause_;
  }
  [[nodiscard]] bool is_first() const noexcept { return rounds_ == 0; }
  [[nodiscard]] bool are_over() const noexcept { return rounds_ == most; }

 private:
  static constexpr int quick = 4;
  int rounds_ = 0;
  clock::duration pause_ = std::chrono::milliseconds{1};
  clock::time_point next_{};
};

}  // namespace chorale::transport
