// SPDX-License-Identifier: Apache-2.0
// Steps of an allgather that move runs of blocks, at the same offsets in every rank's buffer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::allgather::within {

/// `count` blocks from that of rank `first` on, wrapping around after the last rank's to that of rank 0.
struct run_of_blocks {
  int first = 0;
  int count = 0;
};

/// A step that sends the run `sent` to rank `to` while receiving `received` from rank `from`. Either may be
/// empty; its rank is then ignored. No two steps send to the same rank or receive from the same rank.
struct step {
  int to;
  run_of_blocks sent;
  int from;
  run_of_blocks received;
};

/// A run in the buffer: the head up to the end of the buffer, the tail at its start. Only an empty run has an
/// empty head.
struct stretch {
  std::span<std::byte> head;
  std::span<std::byte> tail;

  stretch(const blocks<std::byte>& all, run_of_blocks run) {
    const auto parts = all.around(run.first, run.count);
    const bool is_whole = parts[0].empty();
    head = parts[is_whole ? 1 : 0];
    tail = parts[is_whole ? 0 : 1];
  }
  [[nodiscard]] std::size_t size() const noexcept { return head.size() + tail.size(); }
  /// Bytes [at, at + bytes) of the run, copied into `scratch` if they are not contiguous.
  [[nodiscard]] std::span<const std::byte> read(std::size_t at, std::size_t bytes,
                                                std::vector<std::byte>& scratch) const {
    if (at + bytes <= head.size()) return head.subspan(at, bytes);
    if (at >= head.size()) return tail.subspan(at - head.size(), bytes);
    const auto first = head.subspan(at);
    const auto second = tail.first(bytes - first.size());
    scratch.resize(bytes);
    copy_bytes(scratch.data(), first.data(), first.size());
    copy_bytes(scratch.data() + first.size(), second.data(), second.size());
    return scratch;
  }
  void write(std::size_t at, std::span<const std::byte> bytes) const {
    const std::size_t in_head = at < head.size() ? std::min(bytes.size(), head.size() - at) : 0;
    if (in_head != 0) copy_bytes(head.data() + at, bytes.data(), in_head);
    if (in_head != bytes.size())
      copy_bytes(tail.data() + (at + in_head - head.size()), bytes.data() + in_head, bytes.size() - in_head);
  }
};

/// The two parts of a run in another rank's buffer, as sent in a message.
struct remote_stretch {
  remote_region head;
  remote_region tail;
};

/// Where rank `from` expects `out`. @throws error errc::mismatch if the announced sizes differ from those of
/// `out`.
template <mailbox_transport Net, arrived_message Message>
remote_stretch read_stretch(const Net& net, int from, call_id now, const Message& message,
                            const stretch& out) {
  remote_stretch there;
  std::memcpy(&there, transfer::exact(net, from, now, message, sizeof there).data(), sizeof there);
  const bool fits = chorale::is_owned_by(net, from, there.head) &&
                    chorale::is_owned_by(net, from, there.tail) && there.head.bytes == out.head.size() &&
                    there.tail.bytes == out.tail.size();
  if (!fits)
    chorale::throw_unequal_sizes(net, now, from, there.head.bytes + there.tail.bytes, net.rank(), out.size());
  return there;
}

/// Alternately sends a block of `out` and receives one of `in`, so that partners do not wait for each other's
/// free blocks; or uses messages of the transport.
template <mailbox_transport Net>
task<> copy(Net& net, call_id now, int to, stretch out, int from, stretch in) {
  const std::size_t piece = net.block_bytes();
  if constexpr (message_transport<Net>) {
    // A long run that is not contiguous is sent as two messages. A short one is a single message even if the
    // run in the other direction is long, since its peer may have no long run in this step.
    if (transfer::is_whole(net, out.size()) || transfer::is_whole(net, in.size())) {
      std::vector<std::byte> together;
      const auto received =
          chorale::scratch_of(net, transfer::is_whole(net, in.size()) || in.tail.empty() ? 0 : in.size());
      const auto apart = received.memory();
      using sources = std::array<std::span<const std::byte>, 2>;
      using places = std::array<std::span<std::byte>, 2>;
      const bool is_long = transfer::is_whole(net, out.size());
      std::vector<transfer::outbound_message> sends;
      std::vector<transfer::inbound_message> receives;
      for (const auto part :
           is_long ? sources{out.head, out.tail} : sources{out.read(0, out.size(), together)})
        if (!part.empty()) sends.push_back({to, part});
      for (const auto part : apart.empty() ? places{in.head, in.tail} : places{apart})
        if (!part.empty()) receives.push_back({from, part});
      co_await transfer::exchange_all(net, now, sends, receives);
      in.write(0, apart);
      co_return;
    }
  }
  std::vector<std::byte> scratch;
  for (std::size_t at = 0; at < out.size() || at < in.size(); at += piece) {
    if (at < out.size()) co_await net.send(to, now, out.read(at, std::min(piece, out.size() - at), scratch));
    if (at < in.size()) {
      const auto message = co_await net.receive(from, now);
      in.write(at, transfer::exact(net, from, now, message, std::min(piece, in.size() - at)));
    }
  }
}

/// Performs the steps in order. `all`: packed blocks, even or uneven. Runs of at least `threshold` bytes (0:
/// the transport's threshold) are put into the receiver's buffer.
///
/// Each receiver of a long run sends its buffer's address to the sender at the start. All ranks wait for
/// these addresses before the first step, so that a message of a step is never mistaken for an address. The
/// wait costs nothing, since no rank can finish before all have started.
template <mailbox_transport Net>
task<> run(Net& net, call_id now, blocks<std::byte> all, std::span<const step> steps, std::size_t threshold) {
  const auto goes_straight = [&](run_of_blocks run) {
    const std::size_t bytes = all.layout().is_even()
                                  ? static_cast<std::size_t>(run.count) * all.layout().largest()
                                  : stretch{all, run}.size();
    return threshold == 0 ? transfer::is_zero_copy(net, bytes)
                          : one_sided_transport<Net> && bytes != 0 && bytes >= threshold;
  };
  if constexpr (one_sided_transport<Net>) {
    bool any = false;
    for (const step& s : steps) any = any || goes_straight(s.sent) || goes_straight(s.received);
    if (any) {
      const auto exposed = transfer::expose(net, all);
      std::vector<remote_stretch> there(steps.size());
      for (const auto& s : steps) {
        if (!goes_straight(s.received)) continue;
        const stretch in{all, s.received};
        const remote_stretch here{transfer::part_of(exposed.region(), in.head),
                                  transfer::part_of(exposed.region(), in.tail)};
        co_await net.send(s.from, now, transfer::bytes_of(here));
      }
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!goes_straight(steps[i].sent)) continue;
        const auto address = co_await net.receive(steps[i].to, now);
        there[i] =
            allgather::within::read_stretch(net, steps[i].to, now, address, stretch{all, steps[i].sent});
      }
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const step& s = steps[i];
        const stretch out{all, s.sent};
        const stretch in{all, s.received};
        const bool puts = goes_straight(s.sent);
        const bool is_put_to = goes_straight(s.received);
        if (puts) {
          if (!out.tail.empty()) co_await net.put(there[i].tail, 0, exposed, out.tail, now);
          co_await net.put_notified(there[i].head, 0, exposed, out.head, now);
        }
        const stretch none{all, {}};
        co_await allgather::within::copy(net, now, s.to, puts ? none : out, s.from, is_put_to ? none : in);
        if (is_put_to) co_await net.notified(s.from, now);
      }
      for (const auto& s : steps)
        if (goes_straight(s.sent)) co_await net.flush(s.to, now);
      exposed.copy_back();
      co_return;
    }
  }
  for (const auto& s : steps)
    co_await allgather::within::copy(net, now, s.to, stretch{all, s.sent}, s.from, stretch{all, s.received});
}

}  // namespace chorale::allgather::within
