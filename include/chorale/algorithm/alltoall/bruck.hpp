// Bruck's alltoall.
#pragma once

#include <algorithm>
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

/// Store and forward: round m sends every block whose distance still to go has bit m set to rank + 2^m, all
/// of them together. Even blocks. Cost: ceil(log2 n) rounds of at most n / 2 blocks, and as much memory as
/// the message; each byte travels log2 n / 2 times. Best for short messages.  Source: P5 section 2 (Bruck).
///
/// The blocks of a round come into the places of those that left: chunk by chunk, and a chunk has been sent
/// when its place is overwritten; or all together, where the transport has messages of any length.
struct bruck {
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
    // Place j: first the block for rank + j, at the end the one from rank - j.
    const auto aside = chorale::scratch_of(net, static_cast<std::size_t>(ranks) * one);
    const auto places = aside.memory();
    const auto place = [&](int j) { return places.subspan(static_cast<std::size_t>(j) * one, one); };
    for (int j = 1; j < ranks; ++j) {
      const auto block = in[(net.rank() + j) % ranks];
      chorale::copy_bytes(place(j).data(), block.data(), block.size());
    }
    std::vector<std::byte> packed(std::min(net.block_bytes(), places.size()));
    std::vector<std::span<std::byte>> moving;
    for (const auto round : topology::bruck_alltoall{net.rank(), ranks}) {
      moving.clear();
      for (int j = 0; j < ranks; ++j)
        if (round.moves(j)) moving.push_back(place(j));
      const std::size_t total = moving.size() * one;
      if constexpr (message_transport<Net>) {
        if (transfer::is_whole(net, total)) {
          std::vector<std::byte> out_of(total);
          std::vector<std::byte> into(total);
          each_part(moving, one, 0, total, [&](std::size_t done, std::span<std::byte> part) {
            copy_bytes(out_of.data() + done, part.data(), part.size());
          });
          co_await transfer::copy(net, now, round.to, out_of, round.from, into);
          each_part(moving, one, 0, total, [&](std::size_t done, std::span<std::byte> part) {
            copy_bytes(part.data(), into.data() + done, part.size());
          });
          continue;
        }
      }
      for (std::size_t at = 0; at < total; at += packed.size()) {
        const auto chunk = std::span{packed}.first(std::min(packed.size(), total - at));
        each_part(moving, one, at, chunk.size(), [&](std::size_t done, std::span<std::byte> part) {
          copy_bytes(chunk.data() + done, part.data(), part.size());
        });
        co_await net.send(round.to, now, chunk);
        const auto message = co_await net.receive(round.from, now);
        const auto theirs = transfer::exact(net, round.from, now, message, chunk.size());
        each_part(moving, one, at, chunk.size(), [&](std::size_t done, std::span<std::byte> part) {
          chorale::copy_bytes(part.data(), theirs.data() + done, part.size());
        });
      }
    }
    for (int j = 1; j < ranks; ++j)
      chorale::copy_bytes(out[(net.rank() - j + ranks) % ranks].data(), place(j).data(), one);
  }

 private:
  /// Bytes [at, at + bytes) of blocks of `one` byte each, taken one behind the other: `use(bytes before,
  /// part)`.
  template <class Use>
  static void each_part(std::span<const std::span<std::byte>> all, std::size_t one, std::size_t at,
                        std::size_t bytes, Use&& use) {
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t inside = (at + done) % one;
      const std::size_t length = std::min(bytes - done, one - inside);
      use(done, all[(at + done) / one].subspan(inside, length));
      done += length;
    }
  }
};

}  // namespace chorale::alltoall
