// SPDX-License-Identifier: Apache-2.0
// Reliable connections over one device port, with the mechanisms that use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/rdma_mailbox.hpp>
#include <chorale/transport/connections/rma_queue.hpp>
#include <chorale/transport/connections/send_receive_mailbox.hpp>

namespace chorale::transport {

/// Connections to the ranks of this place through the device between places. They carry only atomic
/// operations: a message from a peer breaks its connection. One thread at a time.
class near_atomics final : private connection_user {
 public:
  /// `others`: the connections that carry everything else. It must outlive this.
  explicit near_atomics(connections& others)
      : links(others.owner(), others.port(), *this,
              {.limit = others.common_lane().options.limit,
               .inbox_bytes = mailbox_layout::blocks_offset,
               .message_bytes = sizeof(std::uint64_t),
               .receives = 1,
               .posts_receives = false},
              number) {}

  connections links;

 private:
  /// Above the numbers of the rails of a transport.
  static constexpr std::uint16_t number = 16;

  void on_accepted(connection&) override {}
  void on_closed(connection&) noexcept override {}
  void on_notice(connection& from, std::uint32_t) override { refuse(from); }
  void on_written(connection& from, std::uint32_t) override { refuse(from); }
  void on_message(connection& from, std::uint64_t, const ibv_wc&) override { refuse(from); }
  void count(int, ledger&) const noexcept override {}
  [[nodiscard]] bool admits(int) const noexcept override { return true; }
  void refuse(connection& from) {
    links.break_off(from, "it sent a message where only atomic operations belong");
  }
};

/// Connections over one device port with a mailbox and one-sided operations. A transport has one rail, or one
/// for each of several ports. `Mailbox`: `rdma_mailbox` or `send_receive_mailbox`. One thread at a time.
///
/// A transport with several rails calls `settle()` on all before it closes any, since otherwise a farewell on
/// one rail could overtake data on another. There is no ordering between rails.
template <class Mailbox>
class rail final : private connection_user {
 public:
  /// Whether a peer that requests a connection may have one.
  using admission = std::function<bool(int peer)>;

  /// `number`: the index of this rail in the transport, the same on all ranks. `over`: its device port;
  /// `near`: as for `connections`. All must outlive it. A transport that passes `admits` must not use this
  /// rail for atomic operations: these need one executor for all peers, including those that get no
  /// connection. Settings: those of connections, mailbox and registration cache. @throws error as the verbs
  /// objects.
  rail(endpoint& owner, const device_port& over, std::uint16_t number = 0, admission admits = {},
       const device_port* near = nullptr)
      : links_(owner, over, *this, Mailbox::needs(owner.copies_to_some(), owner.settings(), owner.size()),
               number, near),
        near_atomics_(near != nullptr && !admits ? std::make_unique<near_atomics>(links_) : nullptr),
        one_sided_(links_, owner.settings(), near_atomics_ ? near_atomics_->links : links_),
        mailbox_(made(links_, one_sided_, owner.settings())),
        admits_(std::move(admits)) {}

  [[nodiscard]] connections& links() noexcept { return links_; }
  [[nodiscard]] const connections& links() const noexcept { return links_; }
  [[nodiscard]] Mailbox& mailbox() noexcept { return mailbox_; }
  [[nodiscard]] const Mailbox& mailbox() const noexcept { return mailbox_; }
  [[nodiscard]] rma_queue& one_sided() noexcept { return one_sided_; }
  [[nodiscard]] const rma_queue& one_sided() const noexcept { return one_sided_; }
  [[nodiscard]] std::size_t registered_bytes() const noexcept {
    std::size_t bytes = links_.registered_bytes();
    if (near_atomics_) bytes += near_atomics_->links.registered_bytes();
    if constexpr (requires { mailbox_.registered_bytes(); }) bytes += mailbox_.registered_bytes();
    return bytes;
  }
  /// Adds its memory and connections.
  void describe(memory_report& m) const {
    links_.describe(m);
    if (near_atomics_) near_atomics_->links.describe(m);
    mailbox_.describe(m);
    one_sided_.describe(m);
  }

  // The interface for the endpoint.
  void on_progress() {
    links_.on_progress();
    if (near_atomics_) near_atomics_->links.on_progress();
    mailbox_.on_progress();
  }
  void probe(int peer) {
    links_.probe(peer);
    if (near_atomics_) near_atomics_->links.probe(peer);
  }
  void withdraw() noexcept {
    links_.withdraw();
    if (near_atomics_) near_atomics_->links.withdraw();
    if constexpr (requires { mailbox_.withdraw(); }) mailbox_.withdraw();
  }

  /// Starts nothing new; waits until everything sent has arrived.
  void settle() noexcept {
    links_.settle();
    if (near_atomics_) near_atomics_->links.settle();
    if constexpr (requires { mailbox_.settle(); }) mailbox_.settle();
  }
  /// Sends a farewell on each connection, after all other data, and waits until it has arrived.
  void close() noexcept {
    if constexpr (requires { mailbox_.close(); }) {
      settle();
      mailbox_.close();
    }
    links_.close();
    if (near_atomics_) near_atomics_->links.close();
  }

 private:
  /// Mailboxes with messages of any length also register memory.
  static Mailbox made(connections& links, rma_queue& memory, const config& settings) {
    if constexpr (std::is_constructible_v<Mailbox, connections&, rma_queue&, const config&>)
      return Mailbox(links, memory, settings);
    else
      return Mailbox(links, settings);
  }
  void on_accepted(connection& c) override { mailbox_.on_accepted(c); }
  void on_closed(connection& c) noexcept override { mailbox_.on_closed(c); }
  void on_notice(connection& from, std::uint32_t word) override { one_sided_.on_notice(from, word); }
  void on_written(connection& from, std::uint32_t count) override { mailbox_.on_written(from, count); }
  void on_message(connection& from, std::uint64_t index, const ibv_wc& wc) override {
    mailbox_.on_message(from, index, wc);
  }
  void count(int peer, ledger& l) const noexcept override {
    mailbox_.count(peer, l);
    one_sided_.count(peer, l);
  }
  [[nodiscard]] bool admits(int peer) const noexcept override { return !admits_ || admits_(peer); }

  connections links_;
  std::unique_ptr<near_atomics> near_atomics_;  ///< null with one lane, or with `admits`
  rma_queue one_sided_;
  Mailbox mailbox_;
  admission admits_;
};

extern template class rail<rdma_mailbox>;
extern template class rail<send_receive_mailbox>;

}  // namespace chorale::transport
