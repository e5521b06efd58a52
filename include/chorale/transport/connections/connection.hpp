// SPDX-License-Identifier: Apache-2.0
// A reliable connection to one peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <chorale/transport/memory/registered_pool.hpp>
#include <chorale/transport/wire/mailbox.hpp>
#include <chorale/verbs/queue_pair.hpp>

namespace chorale::transport {

struct lane;

/// The queue pair to one peer, the local memory that the peer writes into, and the peer's memory that this
/// rank writes into. Lives as long as `connections`; the words are kept while the connection is closed.
struct connection {
  int peer = -1;
  lane* by = nullptr;  ///< the lane to that peer
  bool ready = false;  ///< both sides are ready: this rank may send
  /// The send queue.
  struct sends {
    std::uint32_t depth = 0;  ///< a power of two
    /// `prepare_request` handles a request whose number has none of these bits: the last request of each half
    /// of the queue; every request if the device takes no inline data or writes may overtake each other.
    std::uint32_t prepare_mask = 0;
  } queue;
  std::uint64_t posted = 0;  ///< requests
  std::uint64_t completed = 0;
  std::optional<verbs::queue_pair> qp;
  /// The peer's memory that this rank writes into.
  struct target {
    std::uint64_t inbox = 0;
    std::uint32_t key = 0;     ///< of the inbox
    bool in_order = true;      ///< requests become visible in the order of posting
    bool unannounced = false;  ///< data was put after the last message that the peer takes by a completion
    bool has_atomics = true;   ///< the peer's device executes atomic operations
    /// If requests may overtake each other: the longest request in bytes that the peer sees whole or not at
    /// all.
    std::size_t polled_bytes = 0;
  } there;
  std::uint32_t psn = 0;
  /// Signal, notification and farewell at the offsets of mailbox_layout: in the inbox, or in `kept_words`.
  std::byte* words = kept_words;
  pool_block inbox;   ///< written by the peer; none while closed
  pool_block shorts;  ///< words to send, if the device takes no inline data
  /// Requests for signs of life.
  struct probes {
    std::uint64_t ticket = 0;  ///< number of the pending one, 0 if none
    std::uint64_t sent = 0;
  } probe;
  std::string broken;  ///< why it failed, empty while it works
  alignas(64) std::byte kept_words[mailbox_layout::blocks_offset]{};
};

}  // namespace chorale::transport
