// One UD queue pair through which a rank reaches every other rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/datagram_queue.hpp>
#include <chorale/transport/device_port.hpp>
#include <chorale/verbs/address_handle.hpp>

namespace chorale::transport {

/// Sends and receives datagrams of at most `payload_bytes`. Unreliable: a datagram may be lost, and is if the
/// receiver has no buffer posted. Not thread-safe.
class datagram_port {
 public:
  struct options {
    std::size_t payload_bytes = 1024;  ///< largest datagram, at most the path MTU
    std::uint32_t receives = 256;      ///< datagrams that may wait here unread
    std::uint32_t sends = 64;          ///< datagrams that may be under way
    /// Where datagrams that were sent as solicited raise an event, if the port is armed; none: nowhere.
    verbs::completion_channel* channel = nullptr;
  };

  /// `over` outlives it, and knows the addresses of the peers. @throws error as the verbs objects.
  datagram_port(const device_port& over, const options& o);

  /// Begins to send and receive. `qkey` is the same on all ranks of a job; top bit 0.
  void open(std::uint32_t qkey);

  [[nodiscard]] std::uint32_t number() const noexcept { return queue_.pair().number(); }
  [[nodiscard]] std::size_t payload_bytes() const noexcept { return queue_.datagram_bytes(); }

  /// Makes the next rank (from 0) known; its path is resolved at the first send.
  void add_peer(std::uint32_t qp_number);

  /// Sends `bytes` that `write(std::byte* place)` writes. A `solicited` datagram wakes who waits for an event
  /// at the receiver. False, and nothing is written, if the send queue is full: try again later. @throws
  /// error if the queue pair is broken, as far as it has shown, or the datagram too large.
  template <class Write>
  bool send(int rank, std::size_t bytes, Write&& write, bool solicited = false) {
    if (bytes > queue_.datagram_bytes()) [[unlikely]]
      reject(rank, bytes);
    if (!queue_.may_send()) [[unlikely]]
      return false;
    const peer& to = peers_.at(static_cast<std::size_t>(rank));
    if (!to.path) [[unlikely]]
      resolve(rank);
    const auto index = static_cast<std::uint32_t>(queue_.sent() % queue_.sends());
    write(queue_.place(index));
    queue_.send(index, bytes, {to.path->native(), to.qp_number, qkey_}, solicited);
    return true;
  }
  /// The same of `parts`, one behind the other.
  bool send(int rank, std::initializer_list<std::span<const std::byte>> parts, bool solicited = false);

  /// The next solicited datagram raises an event in the channel.
  void arm() { queue_.arm(); }

  /// Looks what has left. @throws error if a send has failed, which `send` finds only now and then.
  void reap() { queue_.reap(); }
  /// True if all that was sent has left. @throws as `reap`.
  [[nodiscard]] bool is_drained() {
    reap();
    return queue_.completed() == queue_.sent();
  }
  /// Waits until all that was sent has left, for at most `patience`: a queue pair that is destroyed takes
  /// what waits in it along.
  void drain(clock::duration patience);

  /// Hands each datagram that has arrived to `handler(std::span<const std::byte>)` and posts its buffer
  /// again.
  template <class Handler>
  void poll(Handler&& handler) {
    queue_.poll(std::forward<Handler>(handler));
  }

  /// Registered bytes of this port.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return queue_.memory_bytes(); }

 private:
  struct peer {
    std::uint32_t qp_number = 0;
    std::optional<verbs::address_handle> path;
  };

  [[noreturn]] void reject(int rank, std::size_t bytes) const;
  void resolve(int rank);

  const device_port* over_;
  std::uint32_t qkey_ = 0;
  std::vector<peer> peers_;
  datagram_queue queue_;  ///< goes before the paths that it sends by
};

}  // namespace chorale::transport
