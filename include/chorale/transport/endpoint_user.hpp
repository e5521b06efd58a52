// SPDX-License-Identifier: Apache-2.0
// What an endpoint requires of the transport that owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <chorale/core/call.hpp>

namespace chorale::transport {

/// The parts of a transport, as its endpoint sees them. Called on the rank's own thread.
class endpoint_user {
 public:
  /// Handles the transport's own completions. @throws error if a peer is lost.
  virtual void on_progress() = 0;
  /// The transport's last message to `peer` when this rank leaves; valid until the next call.
  virtual std::span<const std::byte> last_words(int) { return {}; }
  /// Receives the last words of a rank that leaves.
  virtual void on_farewell(int, std::span<const std::byte>) {}
  /// A call has failed: releases the user's memory, which peers may be writing, and exposes no more. Waits no
  /// longer than the device needs to end operations in progress.
  virtual void withdraw() noexcept = 0;
  /// Messages that the transport's parts themselves have retransmitted.
  [[nodiscard]] virtual std::uint64_t resent() const noexcept { return 0; }
  /// How peers' writes to this rank's memory are announced to this rank, and why; empty if peers do not write
  /// there.
  [[nodiscard]] virtual std::string announcements() const { return {}; }
  /// Checks for signs of life of `peer`, besides the inquiry sent to it.
  virtual void probe(int) {}

 protected:
  ~endpoint_user() = default;
};

}  // namespace chorale::transport
