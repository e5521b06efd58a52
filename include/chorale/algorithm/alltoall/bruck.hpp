// SPDX-License-Identifier: Apache-2.0
// Bruck's alltoall.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/bruck.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// Store and forward by the base-k digits of a block's distance to its destination: round m sends the blocks
/// whose digit m is i to rank + i k^m, all blocks with the same digit in one message, so at most k - 1
/// messages per round. Even blocks. A larger k needs more messages, fewer rounds and fewer bytes; k >= n
/// sends each block directly to its destination. Cost: ceil(log_k n) rounds of at most k - 1 messages, in
/// each of which a rank sends at most n (k - 1) / k blocks if n is a power of k; as much memory as the
/// message. For short messages. Source: `topology::bruck_alltoall`.
///
/// Received blocks take the places of the blocks sent with the same digit: chunk by chunk, each chunk sent
/// before its place is overwritten; or all at once, if the transport has messages of any length.
template <int Radix>
requires(Radix >= 2) struct bruck_k {
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    const int ranks = net.size();
    const std::size_t one = in.layout().largest();
    if (one == 0) co_return;
    chorale::place_own(in[net.rank()], out[net.rank()]);
    // Place j holds the block for rank + j at the start, and the block from rank - j at the end.
    const auto aside = chorale::scratch_of(net, static_cast<std::size_t>(ranks) * one);
    const auto places = aside.memory();
    const auto place = [&](int j) { return places.subspan(static_cast<std::size_t>(j) * one, one); };
    for (int j = 1; j < ranks; ++j) {
      const auto block = in[(net.rank() + j) % ranks];
      chorale::copy_bytes(place(j).data(), block.data(), block.size());
    }
    const auto package = chorale::scratch_of(net, std::min(net.block_bytes(), places.size()));
    const auto packed = package.memory();
    std::array<load, static_cast<std::size_t>(Radix - 1)> loads;
    const auto load_of = [&](int i) -> load& { return loads[static_cast<std::size_t>(i)]; };
    for (const auto round : topology::bruck_alltoall{net.rank(), ranks, Radix}) {
      for (int i = 0; i < round.count(); ++i) {
        load_of(i).places.clear();
        round.each_place(i, [&](int j) { load_of(i).places.push_back(place(j)); });
      }
      const std::size_t longest = load_of(0).total();
      if constexpr (message_transport<Net>) {
        if (transfer::is_whole(net, longest)) {
          co_await as_messages(net, now, round,
                               std::span{loads}.first(static_cast<std::size_t>(round.count())));
          continue;
        }
      }
      for (std::size_t at = 0; at < longest; at += packed.size()) {
        for (int i = 0; i < round.count(); ++i) {
          const auto chunk = packed.first(load_of(i).bytes_from(at, packed.size()));
          if (chunk.empty()) continue;
          load_of(i).pack(at, chunk);
          co_await net.send(round.to(i), now, chunk);
        }
        for (int i = 0; i < round.count(); ++i) {
          const std::size_t expected = load_of(i).bytes_from(at, packed.size());
          if (expected == 0) continue;
          const auto message = co_await net.receive(round.from(i), now);
          load_of(i).unpack(at, transfer::exact(net, round.from(i), now, message, expected));
        }
      }
    }
    for (int j = 1; j < ranks; ++j)
      chorale::copy_bytes(out[(net.rank() - j + ranks) % ranks].data(), place(j).data(), one);
  }

 private:
  /// The places sent in one message, one after the other.
  struct load {
    std::vector<std::span<std::byte>> places;

    [[nodiscard]] std::size_t total() const noexcept {
      return places.empty() ? 0 : places.size() * places.front().size();
    }
    /// The number of bytes from `at` on, at most `most`.
    [[nodiscard]] std::size_t bytes_from(std::size_t at, std::size_t most) const noexcept {
      return at < total() ? std::min(most, total() - at) : 0;
    }
    /// Copies the bytes from `at` on to `to`.
    void pack(std::size_t at, std::span<std::byte> to) const {
      each_part(at, to.size(), [&](std::size_t done, std::span<std::byte> part) {
        copy_bytes(to.data() + done, part.data(), part.size());
      });
    }
    /// Copies `from` over the bytes from `at` on.
    void unpack(std::size_t at, std::span<const std::byte> from) const {
      each_part(at, from.size(), [&](std::size_t done, std::span<std::byte> part) {
        copy_bytes(part.data(), from.data() + done, part.size());
      });
    }

   private:
    /// Calls `use(offset, part)` for each contiguous part of bytes [at, at + length); `offset` is relative to
    /// `at`.
    template <class Use>
    void each_part(std::size_t at, std::size_t length, Use&& use) const {
      for (std::size_t done = 0; done < length;) {
        const std::size_t one = places.front().size();
        const std::size_t inside = (at + done) % one;
        const std::size_t part = std::min(length - done, one - inside);
        use(done, places[(at + done) / one].subspan(inside, part));
        done += part;
      }
    }
  };

  /// A round with one message of the transport per digit, all at the same time.
  template <message_transport Net>
  static task<> as_messages(Net& net, call_id now, topology::bruck_alltoall::round round,
                            std::span<const load> loads) {
    std::size_t total = 0;
    for (const load& one : loads) total += one.total();
    const auto packed = chorale::scratch_of(net, total);
    const auto received = chorale::scratch_of(net, total);
    std::vector<transfer::outbound_message> out;
    std::vector<transfer::inbound_message> in;
    std::size_t at = 0;
    for (const load& one : loads) {
      const int i = static_cast<int>(out.size());
      out.push_back({round.to(i), packed.memory().subspan(at, one.total())});
      in.push_back({round.from(i), received.memory().subspan(at, one.total())});
      one.pack(0, packed.memory().subspan(at, one.total()));
      at += one.total();
    }
    co_await transfer::exchange_all(net, now, out, in);
    for (std::size_t i = 0; i < loads.size(); ++i) loads[i].unpack(0, in[i].bytes);
  }
};

/// By the bits of the distance: ceil(log2 n) rounds of at most n / 2 blocks; each byte is sent log2 n / 2
/// times on average. Source: P5 section 2 (Bruck).
struct bruck : bruck_k<2> {};

}  // namespace chorale::alltoall
