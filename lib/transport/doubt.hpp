// How a rank finds out what a message belongs to that does not seem to be of its call.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

#include "repeated_question.hpp"

namespace chorale::transport {

/// A rank that doubts a message asks its sender what the call is to it. The sender is alive, or its message
/// would not be here, so that it gets a moment to answer, and no more. It has no clock and no channel: times
/// and facts come in, steps come out. Not thread-safe.
class doubt {
 public:
  /// What is known of the sender.
  struct facts {
    bool has_told = false;    ///< what its call of that number is
    bool is_gone = false;     ///< it has left, or is dead
    bool has_failed = false;  ///< a notice of a failure is here: who has seen the mismatch answers no more
  };
  enum class step {
    ask,    ///< ask it, and read what comes
    read,   ///< read what comes
    judge,  ///< by what is known now
  };

  explicit doubt(clock::time_point time) noexcept : until_(time + answer_time) {}
  /// What is to be done at this time.
  [[nodiscard]] step next(clock::time_point time, const facts& known) noexcept {
    if (known.has_told || known.has_failed || known.is_gone || time >= until_) return step::judge;
    return question_.is_due(time) ? step::ask : step::read;
  }

 private:
  /// That a living rank gets to say what it is doing: it answers from inside its waits, where naps take at
  /// most 1 ms.
  static constexpr auto answer_time = std::chrono::milliseconds{250};

  repeated_question question_;
  clock::time_point until_;
};

}  // namespace chorale::transport
