// SPDX-License-Identifier: Apache-2.0
// Handles a rank that has joined the others but then cannot take part.
#pragma once

namespace chorale::transport {

class control_channel;
class datagram_port;
class membership;

/// Tells all other ranks, which would otherwise wait, that this rank could not make its communicator. Takes
/// at most 500 ms if datagrams cannot be sent.
void announce_no_start(datagram_port& port, const membership& members) noexcept;

/// The other ranks already expect this rank. If the guard is destroyed without having been dismissed, the
/// communicator could not be made here: the others are told, since they would otherwise wait for it.
class no_start_guard {
 public:
  no_start_guard(control_channel& channel, const membership& group) noexcept
      : channel_(&channel), group_(&group) {}
  no_start_guard(const no_start_guard&) = delete;
  no_start_guard& operator=(const no_start_guard&) = delete;
  /// Takes at most 500 ms if datagrams cannot be sent.
  ~no_start_guard();

  void dismiss() noexcept { channel_ = nullptr; }

 private:
  control_channel* channel_;
  const membership* group_;
};

}  // namespace chorale::transport
