// Steps of an allgather that move runs of blocks which lie at the same place in every rank's buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>

namespace chorale::allgather::within {

/// `count` blocks from that of rank `first` on; behind that of the last rank comes that of rank 0.
struct run_of_blocks {
  int first = 0;
  int count = 0;
};

/// The run `sent` goes to rank `to` while `received` comes from rank `from`. Either may be empty; then its
/// rank does not matter. No rank is `to` of two steps that send, nor `from` of two that receive.
struct step {
  int to;
  run_of_blocks sent;
  int from;
  run_of_blocks received;
};

/// A run as it lies in the buffer: up to the end, and on from the start.
struct stretch {
  std::span<std::byte> head;
  std::span<std::byte> tail;

  stretch(const blocks<std::byte>& all, run_of_blocks run) {
    const int before_end = std::min(run.count, all.layout().ranks() - run.first);
    head = all.range(run.first, before_end);
    tail = all.range(0, run.count - before_end);
  }
  [[nodiscard]] std::size_t size() const noexcept { return head.size() + tail.size(); }
  /// Bytes [at, at + bytes) of the run, by way of `scratch` where they do not lie together.
  [[nodiscard]] std::span<const std::byte> read(std::size_t at, std::size_t bytes,
                                                std::vector<std::byte>& scratch) const {
    if (at + bytes <= head.size()) return head.subspan(at, bytes);
    if (at >= head.size()) return tail.subspan(at - head.size(), bytes);
    const auto first = head.subspan(at);
    scratch.resize(bytes);
    std::copy(first.begin(), first.end(), scratch.begin());
    std::copy_n(tail.begin(), bytes - first.size(),
                scratch.begin() + static_cast<std::ptrdiff_t>(first.size()));
    return scratch;
  }
  void write(std::size_t at, std::span<const std::byte> bytes) const {
    const std::size_t in_head = at < head.size() ? std::min(bytes.size(), head.size() - at) : 0;
    if (in_head != 0) std::memcpy(head.data() + at, bytes.data(), in_head);
    if (in_head != bytes.size())
      std::memcpy(tail.data() + (at + in_head - head.size()), bytes.data() + in_head, bytes.size() - in_head);
  }
};

/// Sends `out` and receives `in` block by block in turns, so that partners do not wait for each other's free
/// blocks.
template <mailbox_transport Net>
task<> copy(Net& net, epoch now, int to, stretch out, int from, stretch in) {
  const std::size_t piece = net.block_bytes();
  std::vector<std::byte> scratch;
  for (std::size_t at = 0; at < out.size() || at < in.size(); at += piece) {
    if (at < out.size()) co_await net.send(to, now, out.read(at, std::min(piece, out.size() - at), scratch));
    if (at < in.size()) {
      auto message = co_await net.receive(from, now);
      in.write(at, message.bytes());
    }
  }
}

/// Makes the steps in their order. `all`: even blocks. From `threshold` bytes on (0: the transport's own)
/// runs go straight into the receiver's buffer.
///
/// Each receiver of a long run tells its sender at once where its buffer is. All wait for those addresses
/// before the first step, so that a message of a step is never taken for an address; it costs nothing in the
/// end, because no rank is done before all have come.
template <mailbox_transport Net>
task<> run(Net& net, epoch now, blocks<std::byte> all, std::span<const step> steps, std::size_t threshold) {
  const auto goes_straight = [&](run_of_blocks run) {
    const std::size_t bytes = static_cast<std::size_t>(run.count) * all.layout().largest();
    return threshold == 0 ? transfer::is_zero_copy(net, bytes)
                          : one_sided_transport<Net> && bytes != 0 && bytes >= threshold;
  };
  if constexpr (one_sided_transport<Net>) {
    const bool any = std::any_of(steps.begin(), steps.end(), [&](const step& s) {
      return goes_straight(s.sent) || goes_straight(s.received);
    });
    if (any) {
      const auto exposed = net.expose(all.buffer());
      const remote_region here = exposed.region();
      std::vector<remote_region> there(steps.size());
      for (const auto& s : steps)
        if (goes_straight(s.received)) co_await net.send(s.from, now, transfer::bytes_of(here));
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!goes_straight(steps[i].sent)) continue;
        auto address = co_await net.receive(steps[i].to, now);
        there[i] = transfer::read_region(address.bytes());
      }
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const step& s = steps[i];
        const stretch out{all, s.sent};
        const stretch in{all, s.received};
        const bool puts = goes_straight(s.sent);
        const bool is_put_to = goes_straight(s.received);
        if (puts) {
          const auto offset = [&](std::span<std::byte> part) {
            return static_cast<std::size_t>(part.data() - all.buffer().data());
          };
          if (!out.tail.empty()) co_await net.put(there[i], offset(out.tail), exposed, out.tail, now);
          co_await net.put_notified(there[i], offset(out.head), exposed, out.head, now);
        }
        const stretch none{all, {}};
        co_await copy(net, now, s.to, puts ? none : out, s.from, is_put_to ? none : in);
        if (is_put_to) co_await net.notified(s.from, now);
      }
      for (const auto& s : steps)
        if (goes_straight(s.sent)) co_await net.flush(s.to, now);
      co_return;
    }
  }
  for (const auto& s : steps)
    co_await copy(net, now, s.to, stretch{all, s.sent}, s.from, stretch{all, s.received});
}

}  // namespace chorale::allgather::within
