// SPDX-License-Identifier: Apache-2.0
// Signals between two ranks: only the newest counts, and none is acknowledged.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>
#include <chorale/transport/wire/mailbox.hpp>

#include "../wire/sequence.hpp"

namespace chorale::transport::reliable {

/// The last signal sent, kept in case the peer reports that it is missing.
struct sent_signal {
  std::uint64_t word = 0;
  sequence after = first_sequence;  ///< valid once all packets before this one have been delivered
  clock::time_point when{};
  bool confirmed = true;  ///< the peer has reported that the signal has arrived

  /// True if a peer whose newest signal is `theirs` has missed it.
  [[nodiscard]] bool is_missed(std::uint64_t theirs) const noexcept {
    return theirs != word && reached(word, theirs);
  }
};

/// Signals of the peer. Not thread-safe.
class received_signals {
 public:
  /// The newest signal received; earlier packets may still be missing.
  [[nodiscard]] std::uint64_t newest() const noexcept { return newest_; }
  /// The newest valid signal, given that all packets before `expected` have been delivered.
  std::uint64_t current(sequence expected) noexcept {
    if (distance(after_, expected) >= 0 && reached(newest_, current_)) current_ = newest_;
    return current_;
  }
  void take(std::uint64_t word, sequence after, sequence expected) noexcept {
    current(expected);
    if (!reached(word, newest_)) return;
    newest_ = word;
    after_ = after;
  }
  /// True if the peer's last signal, `word`, is newer than the newest received.
  [[nodiscard]] bool lacks(std::uint64_t word) const noexcept {
    return word != newest_ && reached(word, newest_);
  }

 private:
  std::uint64_t newest_ = 0;
  std::uint64_t current_ = 0;
  sequence after_ = first_sequence;
};

}  // namespace chorale::transport::reliable
