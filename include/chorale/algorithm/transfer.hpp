// Bytes of any number from one rank to another, for algorithms that move whole buffers.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include <chorale/core/chunks.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::transfer {

/// True if a message of so many bytes goes straight into the receiver's buffer. Both sides must know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_zero_copy(const Net& net, std::size_t bytes) noexcept {
  if constexpr (one_sided_transport<Net>)
    return bytes != 0 && bytes >= net.zero_copy_bytes();
  else
    return false;
}

/// A region as it travels in a message.
[[nodiscard]] inline std::span<const std::byte> bytes_of(const remote_region& region) noexcept {
  return std::as_bytes(std::span{&region, 1});
}
[[nodiscard]] inline remote_region read_region(std::span<const std::byte> message) noexcept {
  remote_region region;
  if (message.size() == sizeof region) std::memcpy(&region, message.data(), sizeof region);
  return region;
}

/// Sends `out` to rank `to`, which calls `receive` with as many bytes, or `exchange`.
///
/// Short messages go through the mailbox in blocks: copy, copy. Long ones are a rendezvous: the receiver tells
/// where its buffer is, the sender puts the bytes there and tells when it has (P4 section 3.2). Nothing of
/// either is left over for the next call.
template <mailbox_transport Net>
task<> send(Net& net, int to, epoch now, std::span<const std::byte> out) {
  if constexpr (one_sided_transport<Net>) {
    if (is_zero_copy(net, out.size())) {
      const auto lent = net.lend(out);
      remote_region there;
      {
        auto offer = co_await net.receive(to, now);
        there = read_region(offer.bytes());
      }
      co_await net.put(there, 0, lent, out, now);
      co_await net.send(to, now, {});
      co_await net.flush(to, now);
      co_return;
    }
  }
  for (const auto chunk : chunks{out, net.block_bytes()}) co_await net.send(to, now, chunk);
}

/// Receives what rank `from` sends by `send` or `exchange`: in.size() bytes.
template <mailbox_transport Net>
task<> receive(Net& net, int from, epoch now, std::span<std::byte> in) {
  if constexpr (one_sided_transport<Net>) {
    if (is_zero_copy(net, in.size())) {
      const auto exposed = net.expose(in);
      const remote_region here = exposed.region();
      co_await net.send(from, now, bytes_of(here));
      auto done = co_await net.receive(from, now);
      co_return;
    }
  }
  for (const auto chunk : chunks{in, net.block_bytes()}) {
    auto message = co_await net.receive(from, now);
    std::memcpy(chunk.data(), message.bytes().data(), chunk.size());
  }
}

/// Sends `out` to rank `to` and receives `in` from rank `from`, both at once, so that ranks which do this in a
/// circle do not wait for each other's free blocks. Either may be empty; then its rank does not matter.
template <mailbox_transport Net>
task<> exchange(Net& net, epoch now, int to, std::span<const std::byte> out, int from,
                std::span<std::byte> in) {
  const bool puts = is_zero_copy(net, out.size());
  const bool offers = is_zero_copy(net, in.size());
  if constexpr (one_sided_transport<Net>) {
    if (puts || offers) {
      const auto exposed = net.expose(offers ? in : in.first(0));
      const auto lent = net.lend(puts ? out : out.first(0));
      const remote_region here = exposed.region();
      if (offers) co_await net.send(from, now, bytes_of(here));
      if (puts) {
        remote_region there;
        {
          auto offer = co_await net.receive(to, now);
          there = read_region(offer.bytes());
        }
        co_await net.put(there, 0, lent, out, now);
        co_await net.send(to, now, {});
      } else {
        co_await send(net, to, now, out);
      }
      if (offers) {
        auto done = co_await net.receive(from, now);
      } else {
        co_await receive(net, from, now, in);
      }
      if (puts) co_await net.flush(to, now);
      co_return;
    }
  }
  auto outgoing = chunks{out, net.block_bytes()};
  auto incoming = chunks{in, net.block_bytes()};
  auto next_out = outgoing.begin();
  auto next_in = incoming.begin();
  while (next_out != outgoing.end() || next_in != incoming.end()) {
    if (next_out != outgoing.end()) {
      co_await net.send(to, now, *next_out);
      ++next_out;
    }
    if (next_in != incoming.end()) {
      const auto chunk = *next_in;
      auto message = co_await net.receive(from, now);
      std::memcpy(chunk.data(), message.bytes().data(), chunk.size());
      ++next_in;
    }
  }
}

}  // namespace chorale::transfer
