// SPDX-License-Identifier: Apache-2.0
// One neighbour of a rank in an exchange: the messages to and from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/exchange/learned_threshold.hpp>
#include <chorale/algorithm/exchange/manifest.hpp>
#include <chorale/algorithm/exchange/straight.hpp>
#include <chorale/algorithm/exchange/strided_messages.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale::exchange {

/// A stream from one rank to another: the manifest, then the messages that go by blocks. Manifest and data
/// form one piece if they fit into a block. Otherwise the data have separate pieces, so that they need not be
/// copied to make room for the manifest. Both ranks know the sizes. Where the sender decides which
/// messages go straight (`learned_threshold`), `manifest_header::stream_bytes` tells the receiver.
struct stream {
  std::size_t straight_from = 0;  ///< bytes from which messages go straight instead
  std::size_t straight = 0;       ///< the number of such messages
  std::size_t manifest = 0;       ///< bytes of the manifest; 0 if there is no stream
  std::size_t data = 0;           ///< bytes after the manifest
  std::size_t head = 0;  ///< bytes of the first piece, or of the first ones if the manifest needs several
  std::size_t done = 0;  ///< bytes sent or received so far

  /// A stream with the messages of `list`, as yet without a manifest.
  template <mailbox_transport Net, class Message>
  [[nodiscard]] static stream of(const Net& net, std::span<const Message> list, std::size_t from) noexcept {
    stream made{from};
    for (const Message& message : list) {
      if (message.bytes.size() >= from)
        ++made.straight;
      else if (made.has(net, message.bytes.size()))
        made.data += message.bytes.size();
    }
    return made;
  }
  void begin(std::size_t manifest_bytes, std::size_t block) noexcept {
    manifest = manifest_bytes;
    head = manifest + (manifest + data <= block ? data : 0);
  }
  /// Whether a message of `bytes` is part of the data.
  template <mailbox_transport Net>
  [[nodiscard]] bool has(const Net& net, std::size_t bytes) const noexcept {
    return bytes < straight_from && !transfer::is_whole(net, bytes);
  }
  [[nodiscard]] std::size_t total() const noexcept { return manifest + data; }
  [[nodiscard]] bool has_more() const noexcept { return done < total(); }
  /// Bytes of the next piece, for blocks of `block` bytes.
  [[nodiscard]] std::size_t next(std::size_t block) const noexcept {
    return std::min(block, (done < head ? head : total()) - done);
  }
};

/// A position in the data of a list of messages: a message and a byte of it.
struct place_in_messages {
  std::size_t index = 0;
  std::size_t at = 0;
};

/// Calls `use(message, at, length)` for each part of the next `count` bytes from `place` on that belongs to
/// one message, counting only messages of `list` whose size satisfies `goes(bytes)`.
template <class Message, class Goes, class Use>
void walk(std::span<const Message> list, place_in_messages& place, std::size_t count, Goes&& goes,
          Use&& use) {
  while (count > 0) {
    const Message& message = list[place.index];
    const std::size_t bytes = message.bytes.size();
    if (goes(bytes)) {
      const std::size_t length = std::min(bytes - place.at, count);
      if (length > 0) use(message, place.at, length);
      count -= length;
      place.at += length;
      if (place.at < bytes) return;
    }
    ++place.index;
    place.at = 0;
  }
}

/// The messages between this rank and `peer`. A rank that sends messages sends a stream. If senders put
/// straight messages, a rank that takes such messages also sends a stream, whose manifest provides their
/// destinations. If receivers read them, the sender's manifest provides their addresses, and the receiver
/// signals when it has read them.
class neighbour {
 public:
  /// `sends` and `takes`: the messages to and from the peer; they must outlive the object.
  template <mailbox_transport Net>
  neighbour(const Net& net, int peer, std::span<const outgoing> sends, std::span<const incoming> takes,
            const threshold_of_call& threshold)
      : peer_(peer),
        sends_(sends),
        takes_(takes),
        receivers_read_(exchange::receivers_read(net)),
        out_(stream::of(net, sends, threshold.straight_from())),
        in_(stream::of(net, takes, threshold.sizes().least)) {
    const std::size_t places = receivers_read_ ? out_.straight : in_.straight;
    if (!sends_.empty() || places != 0)
      out_.begin(exchange::manifest_bytes(messages(), places), net.block_bytes());
    const std::size_t their_places = receivers_read_ ? in_.straight : out_.straight;
    if (!takes_.empty() || their_places != 0)
      in_.begin(exchange::manifest_bytes(messages(), their_places), net.block_bytes());
  }

  [[nodiscard]] int peer() const noexcept { return peer_; }
  [[nodiscard]] const stream& out() const noexcept { return out_; }
  [[nodiscard]] const stream& in() const noexcept { return in_; }

  /// Takes the memory that this neighbour needs from the front of `memory` and writes the first piece of the
  /// stream there. Adds straight messages to `straight`.
  template <mailbox_transport Net>
  void begin(Net& net, std::span<std::byte>& memory, straight_memory<Net>& straight) {
    const auto take = [&](std::size_t bytes) {
      const auto taken = memory.first(bytes);
      memory = memory.subspan(bytes);
      return taken;
    };
    theirs_ = take(in_.manifest);
    head_ = take(out_.head);
    first_out_ = straight.out.size();
    const std::size_t first_in = straight.in.size();
    if (has_straight()) add_straight(net, straight);
    if (out_.manifest == 0) return;
    std::byte* at = exchange::write_manifest(head_.data(), out_.total(), sends_, takes_);
    straight.each_region(receivers_read_, receivers_read_ ? first_out_ : first_in,
                         [&](const remote_region& here) {
                           const manifest_place place{here.address, here.key, here.near_key};
                           std::memcpy(at, &place, manifest_place::packed_bytes);
                           at += manifest_place::packed_bytes;
                         });
    if (out_.head != out_.manifest) gather(net, out_.data, at);
  }
  /// The bytes that `begin` takes.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return in_.manifest + out_.head; }

  /// The next piece of the stream to the peer, copied into `scratch` if it is not contiguous.
  template <mailbox_transport Net>
  [[nodiscard]] std::span<const std::byte> next(const Net& net, std::vector<std::byte>& scratch) {
    const std::size_t count = out_.next(net.block_bytes());
    const std::size_t from = out_.done;
    out_.done += count;
    if (from < out_.head) return head_.subspan(from, count);
    std::span<const std::byte> only;
    const place_in_messages here = sent_;
    exchange::walk(sends_, sent_, count, part_of(net, out_),
                   [&](const outgoing& message, std::size_t at, std::size_t length) {
                     if (message.where.is_contiguous()) only = message.bytes.subspan(at, length);
                   });
    if (only.size() == count) return only;
    sent_ = here;
    if (scratch.size() < count) scratch.resize(count);
    gather(net, count, scratch.data());
    return {scratch.data(), count};
  }

  /// Accepts the next piece of the peer's stream. @returns true if this piece completes the manifest, so that
  /// straight messages may be moved. @throws error errc::mismatch.
  template <mailbox_transport Net, arrived_message Message>
  [[nodiscard]] bool accept(const Net& net, call_id now, const Message& message,
                            threshold_of_call& threshold) {
    const std::size_t before = in_.done;
    bool is_over = false;
    std::size_t mine = 0;
    if (before < in_.manifest) {
      // Compares the manifest before the length, since its errors are more specific.
      const auto seen =
          transfer::at_least(net, peer_, now, message, before == 0 ? sizeof(manifest_header) : 0);
      if (before == 0)
        follow(net, exchange::unpacked<manifest_header>(seen.data()).stream_bytes, threshold.sizes());
      mine = std::min(seen.size(), in_.manifest - before);
      chorale::copy_bytes(theirs_.data() + before, seen.data(), mine);
      manifest(net.rank()).compare_from(before, before + mine, in_.total());
      is_over = before + mine == in_.manifest;
    }
    const std::size_t expected = in_.next(net.block_bytes());
    auto data = transfer::exact(net, peer_, now, message, expected).subspan(mine);
    in_.done += expected;
    const auto watch = threshold.time(cost_of_ways::work::take, data.size());
    exchange::walk(takes_, taken_, data.size(), part_of(net, in_),
                   [&](const incoming& taken, std::size_t at, std::size_t length) {
                     exchange::unpack(taken, at, data.first(length));
                     data = data.subspan(length);
                   });
    watch.end();
    return is_over;
  }

  /// Whether this rank moves straight messages: it puts the messages it sends, or reads those it takes.
  /// Precondition: the peer's manifest is complete, or there is none.
  [[nodiscard]] bool moves_straight() const noexcept {
    return (receivers_read_ ? in_.straight : out_.straight) != 0;
  }
  /// Begins to put the straight messages, or reads them. Precondition: the manifest is complete.
  template <mailbox_transport Net>
  task<> move_straight(Net& net, call_id now, const straight_memory<Net>& straight,
                       threshold_of_call& threshold) const {
    if constexpr (one_sided_transport<Net>) {
      const auto theirs = manifest(net.rank());
      std::size_t next = 0;
      if (receivers_read_) {
        for (const incoming& message : takes_) {
          if (message.bytes.size() < in_.straight_from) continue;
          const remote_region there = theirs.place_of(next++, message.bytes.size());
          const read_target<Net> target{net, message};
          const auto watch = threshold.time(cost_of_ways::work::read, message.bytes.size());
          co_await net.get(there, 0, target.registered(), target.registered().memory(), now);
          target.unpack();
          watch.end();
        }
        co_await net.signal(peer_, now);
        co_return;
      }
      for (const outgoing& message : sends_) {
        if (message.bytes.size() < out_.straight_from) continue;
        const remote_region there = theirs.place_of(next, message.bytes.size());
        const auto& lent = straight.out[first_out_ + next++];
        co_await net.put_notified(there, 0, lent, lent.current(message.bytes), now);
      }
    }
    co_return;
  }
  /// Waits until the straight messages have been moved.
  template <one_sided_transport Net>
  task<> end_straight(Net& net, call_id now) const {
    if (receivers_read_) {
      if (out_.straight != 0) co_await net.signalled(peer_, now);
      co_return;
    }
    for (std::size_t i = 0; i < in_.straight; ++i) co_await net.notified(peer_, now);
    if (out_.straight != 0) co_await net.flush(peer_, now);
  }
  [[nodiscard]] bool has_straight() const noexcept { return out_.straight + in_.straight != 0; }

  /// Adds the messages that the transport sends whole. Precondition: both streams are complete.
  template <mailbox_transport Net>
  void add_whole(const Net& net, std::vector<transfer::outbound_message>& out,
                 std::vector<transfer::inbound_message>& in) const {
    for (const outgoing& message : sends_)
      if (transfer::is_whole(net, message.bytes.size())) out.push_back({peer_, message.bytes});
    for (const incoming& message : takes_)
      if (transfer::is_whole(net, message.bytes.size())) in.push_back({peer_, message.bytes});
  }

 private:
  [[nodiscard]] std::size_t messages() const noexcept { return sends_.size() + takes_.size(); }
  template <class Net>
  [[nodiscard]] static auto part_of(const Net& net, const stream& of) noexcept {
    return [&net, &of](std::size_t bytes) { return of.has(net, bytes); };
  }
  /// Follows the sender's decision which messages go straight. The length of its stream tells: each straight
  /// message makes it shorter, since its place has fewer bytes than its data. Until then, `in_` is the stream
  /// with the longest manifest, so that there is memory for either.
  template <class Net>
  void follow(const Net& net, std::uint64_t stream_bytes, const straight_sizes& sizes) noexcept {
    if (stream_bytes == in_.total()) return;
    stream by_blocks = stream::of(net, takes_, sizes.sure);
    by_blocks.begin(exchange::manifest_bytes(messages(), by_blocks.straight), net.block_bytes());
    if (stream_bytes == by_blocks.total()) in_ = by_blocks;
  }
  template <class Net>
  void add_straight(Net& net, straight_memory<Net>& straight) const {
    for (const outgoing& message : sends_)
      if (message.bytes.size() >= out_.straight_from) straight.add_out(net, message.bytes);
    if (receivers_read_) return;
    for (const incoming& message : takes_)
      if (message.bytes.size() >= in_.straight_from) straight.add_in(net, message.bytes);
  }
  [[nodiscard]] expected_manifest manifest(int rank) const noexcept {
    return {rank, peer_, sends_, takes_, theirs_};
  }
  /// Copies the next `count` bytes of outgoing data to `to`.
  template <class Net>
  void gather(const Net& net, std::size_t count, std::byte* to) {
    exchange::walk(sends_, sent_, count, part_of(net, out_),
                   [&](const outgoing& message, std::size_t at, std::size_t length) {
                     exchange::pack(message, at, {to, length});
                     to += length;
                   });
  }

  int peer_;
  std::span<const outgoing> sends_;
  std::span<const incoming> takes_;
  std::size_t first_out_ = 0;  ///< index in straight_memory::out of the first
  bool receivers_read_;
  stream out_;
  stream in_;
  place_in_messages sent_;
  place_in_messages taken_;
  std::span<std::byte> theirs_;  ///< the peer's manifest, as far as it has arrived
  std::span<std::byte> head_;    ///< the manifest for the peer, and data in the same piece
};

}  // namespace chorale::exchange
