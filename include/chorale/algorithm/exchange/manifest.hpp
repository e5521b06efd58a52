// SPDX-License-Identifier: Apache-2.0
// How two neighbours describe the messages between them to each other, and detect disagreement.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/neighbours.hpp>
#include <chorale/core/sendable.hpp>
#include <chorale/core/types.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::exchange {

/// The manifest of rank a for rank b: this header, a `manifest_entry` for each message from a to b, then one
/// for each from b to a, in order, and a `manifest_place` for each message that rank b puts or reads. There
/// is no padding, so that a message of a few bytes fits into one cache line with its manifest.
struct manifest_header {
  static constexpr std::size_t packed_bytes = 16;  ///< in a manifest
  std::uint64_t stream_bytes = 0;                  ///< of the manifest and the data after it
  std::uint32_t sends = 0;
  std::uint32_t takes = 0;
};
static_assert(detail::sendable<manifest_header> && sizeof(manifest_header) == manifest_header::packed_bytes);
struct manifest_entry {
  static constexpr std::size_t packed_bytes = 12;  ///< in a manifest
  std::uint64_t bytes = 0;
  std::uint32_t type = 0;
};
struct manifest_place {
  static constexpr std::size_t packed_bytes = 16;  ///< in a manifest
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t near_key = 0;
};

/// The header, entry or place of a manifest at `from`.
template <class Packed>
[[nodiscard]] Packed unpacked(const std::byte* from) noexcept {
  Packed value;
  std::memcpy(static_cast<void*>(&value), from, Packed::packed_bytes);
  return value;
}

/// The size in bytes of a manifest for `messages`, counting both directions.
[[nodiscard]] constexpr std::size_t manifest_bytes(std::size_t messages, std::size_t places) noexcept {
  return sizeof(manifest_header) + messages * manifest_entry::packed_bytes +
         places * manifest_place::packed_bytes;
}

/// Writes the header and the entries of the manifest for a peer, and returns the end of what was written.
/// `sends` and `takes`: the messages to and from it. `stream_bytes`: of the manifest and the data after it.
inline std::byte* write_manifest(std::byte* at, std::uint64_t stream_bytes, std::span<const outgoing> sends,
                                 std::span<const incoming> takes) noexcept {
  const auto write = [&](const auto& value, std::size_t bytes) {
    std::memcpy(at, &value, bytes);
    at += bytes;
  };
  write(manifest_header{stream_bytes, static_cast<std::uint32_t>(sends.size()),
                        static_cast<std::uint32_t>(takes.size())},
        sizeof(manifest_header));
  for (const outgoing& message : sends)
    write(manifest_entry{message.bytes.size(), message.type}, manifest_entry::packed_bytes);
  for (const incoming& message : takes)
    write(manifest_entry{message.bytes.size(), message.type}, manifest_entry::packed_bytes);
  return at;
}

/// @throws error errc::mismatch: rank `from` sends `sent` messages to rank `to`, which takes `taken`.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_unequal_lists(int from, std::size_t sent, int to,
                                                                       std::size_t taken) {
  throw error(errc::mismatch,
              "rank " + std::to_string(from) + " sends " + std::to_string(sent) + " messages to rank " +
                  std::to_string(to) + " in exchange, which takes " + std::to_string(taken) +
                  " from it; what one rank sends, the other has to take, in the same order",
              {to, from});
}

/// @throws error errc::mismatch: the two ranks see message `index` from rank `from` to rank `to` differently.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_unequal_messages(int from, std::uint64_t sent,
                                                                          std::uint32_t sent_type, int to,
                                                                          std::uint64_t taken,
                                                                          std::uint32_t taken_type,
                                                                          std::size_t index) {
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

/// Compares the sender's and the receiver's view of message `index` from rank `from` to rank `to`. @throws
/// error errc::mismatch if they differ.
inline void compare(int from, std::uint64_t sent, std::uint32_t sent_type, int to, std::uint64_t taken,
                    std::uint32_t taken_type, std::size_t index) {
  if (sent != taken || sent_type != taken_type) [[unlikely]]
    throw_unequal_messages(from, sent, sent_type, to, taken, taken_type, index);
}

/// A manifest being received, compared with what this rank expects as it arrives.
class expected_manifest {
 public:
  /// `memory`: where the manifest is assembled. All arguments must outlive the object.
  expected_manifest(int rank, int peer, std::span<const outgoing> sends, std::span<const incoming> takes,
                    std::span<const std::byte> memory) noexcept
      : rank_(rank), peer_(peer), sends_(sends), takes_(takes), memory_(memory) {}

  /// Compares the part from byte `before` up to byte `arrived`, which has just come. @throws error
  /// errc::mismatch that names the first message on which the two ranks disagree.
  void compare_from(std::size_t before, std::size_t arrived, std::uint64_t stream_bytes) const {
    if (before == 0) compare_header();
    const std::size_t messages = sends_.size() + takes_.size();
    std::size_t index = 0;
    if (before != 0) index = (before - sizeof(manifest_header)) / manifest_entry::packed_bytes;
    for (; index < messages && manifest_bytes(index + 1, 0) <= arrived; ++index) compare_entry(index);
    // If the lengths differed, the two ranks would wait for different numbers of pieces before seeing which
    // message differs.
    if (before == 0 && header().stream_bytes != stream_bytes)
      throw_unequal_sizes(operation::exchange, rank_, stream_bytes, peer_, header().stream_bytes);
  }
  /// The `index`th place, as a region of `bytes`. Precondition: that place has arrived.
  [[nodiscard]] remote_region place_of(std::size_t index, std::size_t bytes) const noexcept {
    const auto p =
        unpacked<manifest_place>(memory_.data() + manifest_bytes(sends_.size() + takes_.size(), index));
    return {p.address, bytes, p.key, peer_, p.near_key};
  }

 private:
  [[nodiscard]] manifest_header header() const noexcept {
    return exchange::unpacked<manifest_header>(memory_.data());
  }
  void compare_header() const {
    const manifest_header h = header();
    if (h.sends != takes_.size()) throw_unequal_lists(peer_, h.sends, rank_, takes_.size());
    if (h.takes != sends_.size()) throw_unequal_lists(rank_, sends_.size(), peer_, h.takes);
  }
  void compare_entry(std::size_t index) const {
    const auto theirs = unpacked<manifest_entry>(memory_.data() + manifest_bytes(index, 0));
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
  std::span<const std::byte> memory_;
};

}  // namespace chorale::exchange
