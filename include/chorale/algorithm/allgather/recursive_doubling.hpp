// SPDX-License-Identifier: Apache-2.0
// Recursive doubling allgather with a switch from copying to zero copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/allgather/collective_buffer.hpp>
#include <chorale/algorithm/allgather/within.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/recursive_doubling.hpp>

namespace chorale::allgather {

/// In step m a rank and its partner at distance 2^m exchange the 2^m blocks that each holds. Steps below
/// `SwitchBytes` (the paper's M; 0: the transport's `zero_copy_bytes()`) are copied: data move between the
/// ranks' collective buffers, with one copy in at the start and one out at the end, or in messages if these
/// are cheaper (`short_bytes`) or the transport provides no memory. Longer steps go straight between the
/// users' buffers, with one registration and one exchange of addresses for the whole operation. Even blocks.
/// Cost: log2 n steps, n - 1 blocks. If n is not a power of two, neighbours fold first, which takes two more
/// steps, the last of all n blocks; then `bruck` is cheaper. Registered memory: at most twice 2M bytes,
/// allocated as needed. Source: P4 sections 2.3, 4.1 and 4.2. T = ts log2 p + (p - 1) m tw.
///
/// May run only once per call, since signals are told apart only by their call.
///
/// A block that is sent is never written again in this call; for later calls see `collective_buffer`. A peer
/// puts into `all` only after it has received this rank's address in this call; the call ends when all such
/// puts have been announced and its own have been flushed.
template <std::size_t SwitchBytes>
struct recursive_doubling_at {
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// Up to this many bytes are collected in messages, which the receiver copies into place: a message
  /// announces itself, whereas a put into the collective buffer needs a second write, the signal.
  static constexpr std::size_t short_bytes = 4096;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<std::byte> all) {
    const std::size_t total = all.layout().total();
    const bool copied = SwitchBytes == 0 ? !transfer::is_zero_copy(net, total) : total < SwitchBytes;
    if (copied && total <= most_in_a_message(net)) return in_one_block(net, now, all);
    if constexpr (keeping_transport<Net>) {
      const plan p{net, all.layout().largest()};
      // A single copied step needs no collective buffer, since received blocks are not sent again.
      if (p.collected > 2 && p.collected_bytes() > most_in_a_message(net))
        return in_collective_buffer(net, now, all, p);
    }
    return in_steps(net, now, all);
  }

 private:
  /// All blocks together fit into one message.
  template <mailbox_transport Net>
  static task<> in_one_block(Net& net, call_id now, blocks<std::byte> all) {
    if (all.layout().largest() == 0) co_return;
    for (const auto s : topology::recursive_doubling{net.rank(), net.size()}) {
      if (s.sent.count > 0) co_await net.send(s.peer, now, all.range(s.sent.first, s.sent.count));
      if (s.received.count == 0) continue;
      const auto message = co_await net.receive(s.peer, now);
      transfer::place(net, s.peer, now, message, all.range(s.received.first, s.received.count));
    }
  }
  template <mailbox_transport Net>
  static std::size_t most_in_a_message(const Net& net) noexcept {
    return keeping_transport<Net> ? std::min(short_bytes, net.block_bytes()) : net.block_bytes();
  }

  /// Which steps are copied. The same on all ranks, since it depends on the largest amount that any rank
  /// sends in a step.
  struct plan {
    using steps = topology::recursive_doubling;

    template <one_sided_transport Net>
    plan(const Net& net, std::size_t block) noexcept
        : ranks(net.size()),
          block_bytes(block),
          limit(SwitchBytes == 0 ? net.zero_copy_bytes() : SwitchBytes) {
      if (block >= limit || block == 0) return;
      collected = folds() == 0 ? 1 : 2;
      while (collected < ranks && copies(collected)) collected = std::min(ranks, 2 * collected);
    }
    /// 1 if neighbours fold first.
    [[nodiscard]] int folds() const noexcept { return topology::is_power_of_two(ranks) ? 0 : 1; }
    [[nodiscard]] bool copies(int blocks) const noexcept {
      return static_cast<std::size_t>(blocks) * block_bytes < limit;
    }
    [[nodiscard]] bool copies(const steps::step& s) const noexcept {
      switch (s.kind) {
        case steps::kind::send_operand:
        case steps::kind::receive_operand:
          return copies(1);
        case steps::kind::exchange:
          return copies(std::min(ranks, 1 << (s.index + folds())));
        default:
          return copies(ranks);
      }
    }
    [[nodiscard]] std::size_t collected_bytes() const noexcept {
      return static_cast<std::size_t>(collected) * block_bytes;
    }
    /// The blocks that rank `rank` collects. Partners in a copied step start at the same block.
    [[nodiscard]] topology::rank_range collected_by(int rank) const {
      // A rank that folds away writes into its neighbour's buffer, with the same start.
      const steps own{rank, ranks};
      const bool leaves = !own.empty() && own[0].kind == steps::kind::send_operand;
      const int stays = leaves ? rank - 1 : rank;
      topology::rank_range all{stays, 1};
      for (const auto s : steps{stays, ranks})
        if (copies(s) && s.received.count > 0) all = united(united(all, s.sent), s.received);
      return all;
    }

    int ranks;
    std::size_t block_bytes;
    std::size_t limit;
    int collected = 0;  ///< the most blocks that a rank holds after the copied steps

   private:
    static topology::rank_range united(topology::rank_range a, topology::rank_range b) noexcept {
      if (b.count == 0) return a;
      const int first = std::min(a.first, b.first);
      return {first, std::max(a.first + a.count, b.first + b.count) - first};
    }
  };

  /// The copied steps put from one collective buffer into another; the result is copied out once.
  template <keeping_transport Net>
  static task<> in_collective_buffer(Net& net, call_id now, blocks<std::byte> all, plan p) {
    const topology::recursive_doubling steps{net.rank(), net.size()};
    auto& buffer = net.template state<collective_buffer<Net>>();
    if (!buffer.begin(p.collected_bytes())) {
      std::vector<int> partners;
      for (const auto s : steps)
        if (partners.empty() || partners.front() != s.peer) partners.push_back(s.peer);
      co_await buffer.renew(net, now, p.collected_bytes(), 2 * p.limit, partners);
    }
    const auto collected = p.collected_by(net.rank());
    const auto offset = [&](int rank) {
      return static_cast<std::size_t>(rank - collected.first) * p.block_bytes;
    };
    const std::span<std::byte> here = buffer.here();
    const auto mine = all[net.rank()];
    chorale::copy_bytes(here.data() + offset(net.rank()), mine.data(), mine.size());
    int first = net.rank();
    int end = first + 1;
    std::vector<within::step> rest;
    for (const auto s : steps) {
      if (!p.copies(s)) {
        rest.push_back({s.peer, {s.sent.first, s.sent.count}, s.peer, {s.received.first, s.received.count}});
        continue;
      }
      if (s.sent.count > 0) {
        const auto bytes = static_cast<std::size_t>(s.sent.count) * p.block_bytes;
        const std::size_t at = offset(s.sent.first);
        co_await net.put(buffer.there(s.peer), at, buffer.exposure(), here.subspan(at, bytes), now);
        co_await net.signal(s.peer, now);
      }
      if (s.received.count == 0) continue;
      co_await net.signalled(s.peer, now);
      first = std::min(first, s.received.first);
      end = std::max(end, s.received.first + s.received.count);
    }
    copy_out(here, offset(first), all, first, net.rank());
    copy_out(here, offset(net.rank() + 1), all, net.rank() + 1, end);
    if (!rest.empty()) co_await within::run(net, now, all, rest, SwitchBytes);
  }
  static void copy_out(std::span<const std::byte> from, std::size_t at, const blocks<std::byte>& all,
                       int first, int end) {
    if (first >= end) return;
    const auto to = all.range(first, end - first);
    copy_bytes(to.data(), from.data() + at, to.size());
  }

  template <mailbox_transport Net>
  static task<> in_steps(Net& net, call_id now, blocks<std::byte> all) {
    std::vector<within::step> steps;
    for (const auto s : topology::recursive_doubling{net.rank(), net.size()})
      steps.push_back({s.peer, {s.sent.first, s.sent.count}, s.peer, {s.received.first, s.received.count}});
    co_await within::run(net, now, all, steps, SwitchBytes);
  }
};

/// Switches at the transport's zero-copy threshold.
struct recursive_doubling : recursive_doubling_at<0> {};

}  // namespace chorale::allgather
