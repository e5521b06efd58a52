// What two neighbours tell each other of the messages between them, and how they find that they disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/lean_algorithm.hpp>
#include <chorale/core/neighbours.hpp>
#include <chorale/core/types.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::exchange {

/// The manifest of rank a for rank b: this header, an `entry` for each message from a to b, and one for each
/// from b to a, in their order.
struct manifest_header {
  std::uint64_t stream_bytes = 0;  ///< of the manifest and the data behind it
  std::uint32_t sends = 0;
  std::uint32_t takes = 0;
};
struct manifest_entry {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< where the message goes straight to, if it is taken and long
  std::uint32_t key = 0;
  std::uint32_t type = 0;
};

[[nodiscard]] inline std::size_t manifest_bytes(std::size_t messages) noexcept {
  return sizeof(manifest_header) + messages * sizeof(manifest_entry);
}

/// @throws error errc::mismatch: rank `from` sends `sent` messages to rank `to`, which takes `taken`.
[[noreturn]] inline void throw_unequal_lists(int from, std::size_t sent, int to, std::size_t taken) {
  throw error(errc::mismatch,
              "rank " + std::to_string(from) + " sends " + std::to_string(sent) + " messages to rank " +
                  std::to_string(to) + " in exchange, which takes " + std::to_string(taken) +
                  " from it; what one rank sends, the other has to take, in the same order",
              {to, from});
}

/// Message `index` from rank `from` to rank `to`, as the one that sends and the one that takes see it.
/// @throws error errc::mismatch if they see it differently.
inline void compare(int from, std::uint64_t sent, std::uint32_t sent_type, int to, std::uint64_t taken,
                    std::uint32_t taken_type, std::size_t index) {
  if (sent == taken && sent_type == taken_type) return;
  const std::string which = "message " + std::to_string(index) + " (from 0) of those from rank " +
                            std::to_string(from) + " to rank " + std::to_string(to) + " in exchange: ";
  if (sent == taken)
    throw error(errc::mismatch,
                which + "elements of " + describe_type(sent_type) + " are sent, of " +
                    describe_type(taken_type) + " taken",
                {to, from});
  throw error(errc::mismatch,
              which + "rank " + std::to_string(to) + " expects " + std::to_string(taken) + " bytes, rank " +
                  std::to_string(from) + " sends " + std::to_string(sent),
              {to, from});
}

/// The manifest that a rank expects of a neighbour, as it comes in. Each entry is compared when it is there.
class expected_manifest {
 public:
  expected_manifest(int rank, int peer, std::span<const outgoing> sends, std::span<const incoming> takes,
                    std::uint64_t stream_bytes)
      : rank_(rank),
        peer_(peer),
        sends_(sends),
        takes_(takes),
        stream_bytes_(stream_bytes),
        bytes_(manifest_bytes(sends.size() + takes.size())) {}

  [[nodiscard]] bool is_complete() const noexcept { return come_ == bytes_.size(); }
  /// Takes what belongs to the manifest from the start of `piece`, and returns the rest.
  /// @throws error errc::mismatch that names the first message which the two ranks see differently.
  std::span<const std::byte> take(std::span<const std::byte> piece) {
    const std::size_t mine = std::min(piece.size(), bytes_.size() - come_);
    if (mine == 0) return piece;
    const bool is_first = come_ == 0;
    copy_bytes(bytes_.data() + come_, piece.data(), mine);
    come_ += mine;
    if (is_first) compare_header();
    for (; manifest_bytes(compared_ + 1) <= come_; ++compared_) compare_entry(compared_);
    if (is_first && header().stream_bytes != stream_bytes_)
      throw_unequal_sizes(operation::exchange, rank_, stream_bytes_, peer_, header().stream_bytes);
    return piece.subspan(mine);
  }
  /// Where the peer takes this rank's message `index`. Precondition: it is complete.
  [[nodiscard]] remote_region place_of(std::size_t index) const noexcept {
    const manifest_entry e = entry(takes_.size() + index);
    return {e.address, e.bytes, e.key, peer_};
  }

 private:
  [[nodiscard]] manifest_header header() const noexcept {
    manifest_header h;
    std::memcpy(&h, bytes_.data(), sizeof h);
    return h;
  }
  [[nodiscard]] manifest_entry entry(std::size_t index) const noexcept {
    manifest_entry e;
    std::memcpy(&e, bytes_.data() + manifest_bytes(index), sizeof e);
    return e;
  }
  void compare_header() const {
    const manifest_header h = header();
    if (h.sends != takes_.size()) throw_unequal_lists(peer_, h.sends, rank_, takes_.size());
    if (h.takes != sends_.size()) throw_unequal_lists(rank_, sends_.size(), peer_, h.takes);
  }
  void compare_entry(std::size_t index) const {
    const manifest_entry theirs = entry(index);
    if (index < takes_.size()) {
      const incoming& mine = takes_[index];
      compare(peer_, theirs.bytes, theirs.type, rank_, mine.bytes.size(), mine.type, index);
    } else {
      const outgoing& mine = sends_[index - takes_.size()];
      compare(rank_, mine.bytes.size(), mine.type, peer_, theirs.bytes, theirs.type, index - takes_.size());
    }
  }

  int rank_;
  int peer_;
  std::span<const outgoing> sends_;
  std::span<const incoming> takes_;
  std::uint64_t stream_bytes_;
  std::vector<std::byte> bytes_;
  std::size_t come_ = 0;
  std::size_t compared_ = 0;
};

}  // namespace chorale::exchange
