// SPDX-License-Identifier: Apache-2.0
// Messages of an exchange whose bytes are not contiguous.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/exchange/straight.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/cache_lines.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale::exchange {

/// Copies the bytes of a message from `at` on directly to `to`, the memory that is sent.
inline void pack(const outgoing& message, std::size_t at, std::span<std::byte> to) noexcept {
  if (!message.where.is_contiguous()) [[unlikely]]
    message.where.pack(message.bytes.data(), at, to);
  else
    chorale::copy_bytes(to.data(), message.bytes.data() + at, to.size());
}
/// Copies what has arrived to the bytes of a message from `at` on.
inline void unpack(const incoming& message, std::size_t at, std::span<const std::byte> arrived) noexcept {
  if (!message.where.is_contiguous()) [[unlikely]]
    message.where.unpack(message.bytes.data(), at, arrived);
  else
    chorale::copy_bytes(message.bytes.data() + at, arrived.data(), arrived.size());
}

/// Copies a rank's message to itself. Both have the same size.
inline void copy_own(const outgoing& out, const incoming& in) noexcept {
  if (out.where.is_contiguous() && in.where.is_contiguous()) return chorale::move_bytes(in.bytes, out.bytes);
  if (out.where.is_contiguous()) return exchange::unpack(in, 0, out.bytes);
  if (in.where.is_contiguous()) return exchange::pack(out, 0, in.bytes);
  std::array<std::byte, 4096> some;
  for (std::size_t at = 0; at < out.bytes.size(); at += some.size()) {
    const std::span part{some.data(), std::min(some.size(), out.bytes.size() - at)};
    exchange::pack(out, at, part);
    exchange::unpack(in, at, part);
  }
}

/// Where this rank reads a straight message to: its memory, or contiguous memory if it has strides.
template <one_sided_transport Net>
class read_target {
 public:
  /// `message` must outlive the object. @throws error if no memory can be registered.
  read_target(Net& net, const incoming& message)
      : message_(message),
        aside_(aside_for(net, message)),
        room_(aside_ ? std::span<std::byte>{aside_->memory()} : message.bytes),
        region_(exposed(net, room_)) {}
  /// The memory that the data are read to.
  [[nodiscard]] const auto& registered() const noexcept { return region_; }
  /// Brings what has been read to the message.
  void unpack() const noexcept {
    region_.copy_back();
    if (aside_) exchange::unpack(message_, 0, room_);
  }

 private:
  using memory = decltype(chorale::scratch_of(std::declval<Net&>(), std::size_t{}));
  static std::optional<memory> aside_for(Net& net, const incoming& message) {
    if (message.where.is_contiguous()) return {};
    return chorale::scratch_of(net, message.bytes.size());
  }
  // By value: `expose` replaces memory that cannot be registered, and `unpack` needs the original.
  static auto exposed(Net& net, std::span<std::byte> room) { return transfer::expose(net, room); }

  const incoming& message_;
  std::optional<memory> aside_;
  std::span<std::byte> room_;
  transfer::call_memory<Net, std::byte> region_;
};

/// Contiguous memory in place of messages with strides that are moved whole, straight or by a transport with
/// messages of any length.
template <mailbox_transport Net>
class packed_messages {
 public:
  /// Replaces such messages in the lists, which then refer to copies in `kept_sends` and `kept_takes`, and
  /// packs those that are sent. `straight_from`: the number of bytes from which this rank sends straight.
  /// Messages that this rank reads are not replaced (`read_target`).
  void replace(Net& net, std::size_t straight_from, std::span<const outgoing>& sends,
               std::vector<outgoing>& kept_sends, std::span<const incoming>& takes,
               std::vector<incoming>& kept_takes) {
    const std::size_t put_from =
        exchange::receivers_read(net) ? std::numeric_limits<std::size_t>::max() : straight_from;
    const std::size_t bytes = bytes_to_pack(net, straight_from, sends) + bytes_to_pack(net, put_from, takes);
    if (bytes == 0) return;
    // One buffer for all, since only a few buffers are kept for later calls.
    memory_.emplace(chorale::scratch_of(net, bytes));
    free_ = memory_->memory();
    for (outgoing& message : replaced(net, straight_from, sends, kept_sends)) {
      if (!is_moved_whole(net, straight_from, message)) continue;
      const std::span<std::byte> room = room_for(message.bytes.size());
      exchange::pack(message, 0, room);
      message.bytes = room;
      message.where = {};
    }
    for (incoming& message : replaced(net, put_from, takes, kept_takes)) {
      if (!is_moved_whole(net, put_from, message)) continue;
      const std::span<std::byte> room = room_for(message.bytes.size());
      arriving_.emplace_back(message, room);
      message.bytes = room;
      message.where = {};
    }
  }
  /// Unpacks those that have been received.
  void unpack() const noexcept {
    for (const auto& [message, room] : arriving_) exchange::unpack(message, 0, room);
  }

 private:
  using memory = decltype(chorale::scratch_of(std::declval<Net&>(), std::size_t{}));

  template <class Message>
  [[nodiscard]] static bool is_moved_whole(const Net& net, std::size_t straight_from,
                                           const Message& message) noexcept {
    return !message.where.is_contiguous() && message.peer != net.rank() &&
           (message.bytes.size() >= straight_from || transfer::is_whole(net, message.bytes.size()));
  }
  /// All messages of the list if some of them are to be replaced, otherwise none.
  template <class Message>
  [[nodiscard]] static std::span<Message> replaced(const Net& net, std::size_t straight_from,
                                                   std::span<const Message>& list,
                                                   std::vector<Message>& kept) {
    if (std::none_of(list.begin(), list.end(),
                     [&](const Message& m) { return is_moved_whole(net, straight_from, m); }))
      return {};
    if (list.data() != kept.data()) kept.assign(list.begin(), list.end());
    list = kept;
    return kept;
  }
  template <class Message>
  [[nodiscard]] static std::size_t bytes_to_pack(const Net& net, std::size_t straight_from,
                                                 std::span<const Message> list) noexcept {
    std::size_t bytes = 0;
    for (const Message& message : list)
      if (is_moved_whole(net, straight_from, message)) bytes += chorale::in_cache_lines(message.bytes.size());
    return bytes;
  }
  [[nodiscard]] std::span<std::byte> room_for(std::size_t bytes) noexcept {
    const auto room = free_.first(bytes);
    // Memory that a peer writes shares no cache line with memory that this rank reads.
    free_ = free_.subspan(chorale::in_cache_lines(bytes));
    return room;
  }

  std::optional<memory> memory_;
  std::span<std::byte> free_;
  std::vector<std::pair<incoming, std::span<std::byte>>> arriving_;
};

}  // namespace chorale::exchange
