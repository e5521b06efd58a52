// SPDX-License-Identifier: Apache-2.0
// A test transport over two device ports, made of the library's parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/transport/assembled.hpp>
#include <chorale/transport/connections/rail.hpp>
#include <chorale/transport/endpoint_user.hpp>

#include "../support/anywhere.hpp"

namespace inprocess {

using namespace chorale::transport;
using chorale::call_id;

/// Mailbox over two rails: messages to even ranks use the first rail; messages to odd ranks use the second,
/// after earlier puts to that rank by the second rail have been placed.
class by_parity {
 public:
  struct origin {
    rdma_mailbox* way;
    rdma_mailbox::sender* sender;
  };
  by_parity(int rank, rail<rdma_mailbox>& even, rail<rdma_mailbox>& odd) : rank_(rank), ways_{&even, &odd} {}

  [[nodiscard]] std::size_t block_bytes() const noexcept { return to(0).block_bytes(); }
  bool try_signal(int peer, call_id now) { return is_behind_puts(peer) && to(peer).try_signal(peer, now); }
  bool try_signalled(int peer, call_id now) { return to(rank_).try_signalled(peer, now); }
  bool try_send(int peer, call_id now, std::span<const std::byte> bytes) {
    return is_behind_puts(peer) && to(peer).try_send(peer, now, bytes);
  }
  bool try_receive(int peer, call_id now, std::span<const std::byte>& message) {
    return to(rank_).try_receive(peer, now, message);
  }
  [[nodiscard]] origin sender_of(int peer) const noexcept { return {&to(rank_), to(rank_).sender_of(peer)}; }
  void release(origin from) noexcept { from.way->release(from.sender); }

 private:
  [[nodiscard]] rdma_mailbox& to(int peer) const noexcept { return ways_[peer % 2]->mailbox(); }
  bool is_behind_puts(int peer) { return peer % 2 == 1 || ways_[1]->one_sided().try_flush(peer); }

  int rank_;
  rail<rdma_mailbox>* ways_[2];
};

/// The parts: an endpoint, a rail over each of its two device ports, and that mailbox. One-sided operations
/// use the second rail, whose device port the keys belong to.
class two_rails_parts final : private endpoint_user {
 public:
  static constexpr const char* name = "two_rails";
  /// The further device ports that this thread's ranks request.
  static inline thread_local std::vector<port_selection> second{{.device = support::test_device()}};

  explicit two_rails_parts(joined_group&& group)
      : core_(*this, std::move(group)),
        even_(core_, core_.ports()[0], 0),
        odd_(core_, core_.ports()[1], 1),
        mailbox_(core_.rank(), even_, odd_) {
    core_.channel().start_service();
  }
  ~two_rails_parts() {
    core_.multicast().settle();
    even_.settle();
    odd_.settle();
    even_.close();
    odd_.close();
    core_.leave();
  }
  [[nodiscard]] static joining_plan plan(int ranks, const chorale::config& settings) {
    auto made = connections::plan(name, ranks, settings);
    made.more_ports = second;
    return made;
  }

  [[nodiscard]] endpoint& core() noexcept { return core_; }
  [[nodiscard]] const endpoint& core() const noexcept { return core_; }
  [[nodiscard]] by_parity& mailbox() noexcept { return mailbox_; }
  [[nodiscard]] const by_parity& mailbox() const noexcept { return mailbox_; }
  [[nodiscard]] rma_queue& one_sided() noexcept { return odd_.one_sided(); }
  [[nodiscard]] const rma_queue& one_sided() const noexcept { return odd_.one_sided(); }
  [[nodiscard]] const registration_cache& registrations() const noexcept {
    return odd_.one_sided().registrations();
  }
  [[nodiscard]] const connections& even() const noexcept { return even_.links(); }
  [[nodiscard]] const connections& odd() const noexcept { return odd_.links(); }
  void describe(memory_report& m) const {
    even_.describe(m);
    odd_.describe(m);
  }
  [[nodiscard]] std::size_t registered_bytes() const noexcept {
    return even_.registered_bytes() + odd_.registered_bytes();
  }

 private:
  void on_progress() override {
    even_.on_progress();
    odd_.on_progress();
  }
  void withdraw() noexcept override {
    even_.withdraw();
    odd_.withdraw();
  }
  void probe(int peer) override {
    even_.probe(peer);
    odd_.probe(peer);
  }

  endpoint core_;
  rail<rdma_mailbox> even_;
  rail<rdma_mailbox> odd_;
  by_parity mailbox_;
};

using two_rails = assembled<two_rails_parts>;

}  // namespace inprocess

static_assert(chorale::multicast_transport<inprocess::two_rails>);
static_assert(chorale::window_transport<inprocess::two_rails>);
