// What a transport asks of its streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace chorale::transport::reliable {

enum class atomic_operation : std::uint32_t { fetch_add = 1, compare_swap = 2 };

/// A write under way to exposed memory of rank `peer`; `sent` counts the bytes that have been handed over.
struct write_request {
  int peer = -1;
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::span<const std::byte> from;
  bool notified = false;
  std::size_t sent = 0;
  bool complete = false;
};

/// What a rank says in its stream about another way to the same peer. Packets of these types have no content:
/// their place in the stream is what counts.
enum class path_mark : std::uint8_t {
  offer = 8,              ///< the sender keeps a connection for the receiver
  acceptance = 9,         ///< ... and the receiver one for the sender
  refusal_of_offer = 10,  ///< ... but the receiver has none left
  departure = 11,         ///< from here on the sender's messages come by the connection
};
struct path_news {
  int from;
  path_mark what;
};

}  // namespace chorale::transport::reliable
