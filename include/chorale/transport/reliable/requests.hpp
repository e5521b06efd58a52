// SPDX-License-Identifier: Apache-2.0
// Requests of a transport to its streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace chorale::transport::reliable {

enum class atomic_operation : std::uint32_t { fetch_add = 1, compare_swap = 2 };

/// A write in progress to exposed memory of rank `peer`; `sent` counts the bytes already handed over.
struct write_request {
  int peer = -1;
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::span<const std::byte> from;
  bool notified = false;
  std::size_t sent = 0;
  bool complete = false;
};

/// Marks in a stream about another path to the same peer. They have no payload; their position in the stream
/// matters.
enum class path_mark : std::uint8_t {
  offer = 8,              ///< the sender has reserved a connection for the receiver
  acceptance = 9,         ///< ... and so has the receiver for the sender
  refusal_of_offer = 10,  ///< ... but the receiver has none left
  departure = 11,         ///< later messages of the sender arrive by the connection
};
struct received_path_mark {
  int from;
  path_mark what;
};

}  // namespace chorale::transport::reliable
