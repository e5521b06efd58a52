// SPDX-License-Identifier: Apache-2.0
// Pairwise exchange alltoall.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/alltoall/straight.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/all_pairs.hpp>

namespace chorale::alltoall {

/// n - 1 steps, in each of which every rank receives from exactly one rank: the partner in step i is rank xor
/// i if n is a power of two; otherwise a rank sends to rank + i and receives from rank - i. Even and uneven
/// blocks. Cost: n - 1 messages per rank, one after the other; zero copy from
/// `config::alltoall_zero_copy_bytes` on, with one registration and, in each step, one small message with the
/// block's destination. For uneven blocks this message is sent even if the block is empty. Best for long
/// messages. Source: P5 section 2.
///
/// Each block of `out` is written by one step, and a peer puts into it only after that step has sent the
/// address. The call ends when its own puts have been flushed.
struct pairwise {
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    if (now.has_private_sizes()) return move_uneven(net, now, in, out);
    return move_even(net, now, in, out);
  }

 private:
  template <mailbox_transport Net>
  static task<> move_even(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    const topology::all_pairs pairs{net.rank(), net.size()};
    if constexpr (one_sided_transport<Net>) {
      if (alltoall::goes_straight(net, in.layout().largest())) {
        const auto exposed = transfer::expose(net, out);
        const auto lent = transfer::lend(net, in.buffer());
        chorale::place_own(in[net.rank()], out[net.rank()]);
        for (const auto step : pairs) {
          const remote_region here = transfer::part_of(exposed.region(), out[step.from]);
          co_await net.send(step.from, now, transfer::bytes_of(here));
          remote_region there;
          {
            const auto offer = co_await net.receive(step.to, now);
            there = transfer::read_region(net, step.to, now, offer, in[step.to].size());
          }
          co_await net.put_notified(there, 0, lent, lent.current(in[step.to]), now);
          co_await net.notified(step.from, now);
        }
        for (const auto step : pairs) co_await net.flush(step.to, now);
        exposed.copy_back();
        co_return;
      }
    }
    chorale::place_own(in[net.rank()], out[net.rank()]);
    for (const auto step : pairs)
      co_await transfer::copy(net, now, step.to, in[step.to], step.from, out[step.from]);
  }

  /// In each step an envelope is sent along with the data; before it, a rank that receives by zero copy sends
  /// an envelope to its sender.
  template <mailbox_transport Net>
  static task<> move_uneven(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    const topology::all_pairs pairs{net.rank(), net.size()};
    const auto straight = [&](std::size_t bytes) { return alltoall::goes_straight(net, bytes); };
    const auto share_of = [&](int r) { return agreed::share{in[r].size(), out[r].size()}; };
    const bool is_exposed = straight(out.layout().largest());
    auto arrivals = out.buffer().first(is_exposed ? out.layout().end() : 0);
    const bool is_lent = straight(in.layout().largest());
    const agreed::memory<Net> memory{net, is_lent ? in.buffer() : in.buffer().first(0), arrivals};
    if (is_exposed) out = {arrivals, out.layout()};
    agreed::sealed seal;
    chorale::place_own(in[net.rank()], out[net.rank()]);
    for (const auto step : pairs) {
      const std::span<const std::byte> sent = in[step.to];
      const std::span<std::byte> taken = out[step.from];
      const bool puts = straight(sent.size());
      const bool offers = straight(taken.size());
      const std::size_t first_out = puts ? 0 : agreed::first_bytes(net, sent.size());
      const std::size_t first_in = offers ? 0 : agreed::first_bytes(net, taken.size());
      if (offers) co_await net.send(step.from, now, seal(share_of(step.from), memory.part(taken), {}));
      co_await net.send(step.to, now, seal(share_of(step.to), {}, sent.first(first_out)));
      if constexpr (one_sided_transport<Net>) {
        if (puts) {
          remote_region there;
          {
            const auto offer = co_await net.receive(step.to, now);
            there = agreed::open(net, step.to, now, offer, share_of(step.to), 0).place;
          }
          co_await memory.put(net, step.to, now, there, sent);
        }
      }
      {
        const auto message = co_await net.receive(step.from, now);
        agreed::place_first(agreed::open(net, step.from, now, message, share_of(step.from), first_in), taken);
      }
      co_await transfer::copy(net, now, step.to, puts ? sent.first(0) : sent.subspan(first_out), step.from,
                              offers ? taken.first(0) : taken.subspan(first_in));
      if (offers) co_await memory.notified(net, step.from, now);
    }
    if (is_lent)
      for (const auto step : pairs) co_await memory.flush(net, step.to, now);
    memory.copy_back(out.layout());
  }
};

}  // namespace chorale::alltoall
