// SPDX-License-Identifier: Apache-2.0
// A UD queue pair through which a rank reaches every other rank.
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
#include <chorale/core/zeroed_array.hpp>
#include <chorale/transport/wire/datagram_queue.hpp>
#include <chorale/transport/wire/device_port.hpp>
#include <chorale/verbs/address_handle.hpp>

namespace chorale::transport {

/// Sends and receives datagrams of at most `payload_bytes`. Unreliable: a datagram may be lost, and is lost
/// if the receiver has no buffer posted. Not thread-safe.
class datagram_port {
 public:
  struct options {
    std::size_t payload_bytes = 1024;  ///< largest datagram, at most the path MTU
    std::uint32_t receives = 256;      ///< maximum of unread datagrams
    std::uint32_t sends = 64;          ///< maximum of outstanding sends
    /// Channel for events of solicited datagrams, raised if the port is armed; may be null.
    verbs::completion_channel* channel = nullptr;
    int completion_vector = 0;  ///< of its events, modulo the number that the device has
  };

  /// `over` must outlive this, and knows the addresses of the peers. `ranks`: size of the group. @throws
  /// error as the verbs objects.
  datagram_port(const device_port& over, int ranks, const options& o);

  /// Opens it for sending and receiving. `qkey` is the same on all ranks of a job, with the top bit 0.
  void open(std::uint32_t qkey);

  [[nodiscard]] std::uint32_t number() const noexcept { return queue_.pair().number(); }
  [[nodiscard]] const device_port& over() const noexcept { return *over_; }
  [[nodiscard]] std::size_t payload_bytes() const noexcept { return queue_.datagram_bytes(); }

  /// Sends nothing longer from now on.
  void limit_payload(std::size_t bytes) noexcept { queue_.limit(bytes); }
  /// Adds the next rank (from 0), which was added to the device port before. The path to its address is
  /// resolved at the first send. @throws std::out_of_range if all ranks of the group were added.
  void add_peer(std::uint32_t qp_number);
  /// Resolves the path to `rank` now, so that sending to it allocates no memory. @returns the path.
  ibv_ah* prepare(int rank);

  /// Sends `bytes` bytes, which `write(std::byte* place)` writes. A `solicited` datagram wakes a receiver
  /// that waits for an event. Returns false without calling `write` if the send queue is full: retry later.
  /// @throws error if the queue pair is known to be broken, or the datagram is too large.
  template <class Write>
  bool send(int rank, std::size_t bytes, Write&& write, bool solicited = false) {
    if (bytes > queue_.datagram_bytes()) [[unlikely]]
      reject(rank, bytes);
    if (!queue_.may_send()) [[unlikely]]
      return false;
    const peer& to = peers_.at(static_cast<std::size_t>(rank));
    ibv_ah* path = ways_[static_cast<std::size_t>(rank)];
    if (path == nullptr) [[unlikely]]
      path = prepare(rank);
    const auto index = static_cast<std::uint32_t>(queue_.sent() % queue_.sends());
    write(queue_.place(index));
    queue_.send(queue_.content(index, bytes), {path, to.qp_number, qkey_}, solicited);
    return true;
  }
  /// The same for the concatenation of `parts`.
  bool send(int rank, std::initializer_list<std::span<const std::byte>> parts, bool solicited = false);

  /// Whether something was sent to it, or prepared to be. Precondition: the rank was added.
  [[nodiscard]] bool is_prepared(int rank) const noexcept {
    return ways_[static_cast<std::size_t>(rank)] != nullptr;
  }

  /// Arms the port: the next solicited datagram raises an event in the channel.
  void arm() { queue_.arm(); }

  /// Polls send completions. @throws error if a send failed, which `send` notices only occasionally.
  void reap() { queue_.reap(); }
  /// True if all sends have completed. @throws error as `reap`.
  [[nodiscard]] bool is_drained() {
    reap();
    return queue_.completed() == queue_.sent();
  }
  /// Waits until all sends have completed, for at most `patience`: destroying a queue pair discards what it
  /// has not sent.
  void drain(clock::duration patience);

  /// As `datagram_queue::poll`.
  template <class Handler>
  bool poll(Handler&& handler) {
    return queue_.poll(std::forward<Handler>(handler));
  }

  /// True if a datagram that `poll` passes, or one that another queue of this device port has received, came
  /// from the queue pair and the port of `rank`, as the adapter reports. Precondition: the rank was added.
  [[nodiscard]] bool is_from(int rank, std::span<const std::byte> datagram,
                             const ibv_wc& completion) const noexcept {
    const peer& from = peers_[static_cast<std::size_t>(rank)];
    if (completion.src_qp != from.qp_number) [[unlikely]]
      return false;
    if ((completion.wc_flags & IBV_WC_GRH) == 0) return completion.slid == from.lid;
    return has_address(rank, datagram);
  }

  /// For sending from other memory, to other destinations.
  [[nodiscard]] datagram_queue& queue() noexcept { return queue_; }

  /// Registered bytes of this port.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return queue_.memory_bytes(); }

 private:
  struct peer {
    std::uint32_t qp_number = 0;
    std::uint16_t lid = 0;
  };

  [[nodiscard]] bool has_address(int rank, std::span<const std::byte> datagram) const noexcept;
  [[noreturn]] void reject(int rank, std::size_t bytes) const;

  const device_port* over_;
  std::uint32_t qkey_ = 0;
  std::vector<peer> peers_;
  std::vector<std::optional<verbs::address_handle>> paths_;  ///< to each address, made at first use
  detail::zeroed_array<ibv_ah*> ways_;  ///< to each rank, of `paths_`; null until it is used
  datagram_queue queue_;                ///< destroyed before the paths that it uses
};

}  // namespace chorale::transport
