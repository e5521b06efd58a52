// SPDX-License-Identifier: Apache-2.0
// How a rank resolves a message that does not seem to belong to its call.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

#include "repeated_question.hpp"

namespace chorale::transport {

/// The rank asks the sender of that message about its call. The sender was alive when it sent the
/// message, so it gets a short time to answer, and no more. Sans-I/O: times and facts come in, steps come
/// out. Not thread-safe.
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

}  // namespace chorale::transport
