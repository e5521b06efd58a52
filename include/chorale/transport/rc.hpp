// Mailbox over reliable connections by RDMA write, polled in memory; one-sided operations by the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/transport/assembled.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/inbox.hpp>
#include <chorale/transport/connections/rma_queue.hpp>
#include <chorale/transport/endpoint_user.hpp>

namespace chorale::transport {

/// The parts of `rc`: an endpoint, connections, and on these an inbox and one-sided operations.
class rc_parts final : private endpoint_user, private connection_user {
 public:
  static constexpr const char* name = "rc";

  explicit rc_parts(joined_group&& group);
  ~rc_parts();
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return connections::plan(name, ranks, settings);
  }

  [[nodiscard]] endpoint& core() noexcept { return core_; }
  [[nodiscard]] const endpoint& core() const noexcept { return core_; }
  [[nodiscard]] inbox& mailbox() noexcept { return inbox_; }
  [[nodiscard]] const inbox& mailbox() const noexcept { return inbox_; }
  [[nodiscard]] rma_queue& one_sided() noexcept { return rma_; }
  [[nodiscard]] const registration_cache& registrations() const noexcept { return rma_.registrations(); }
  void describe(memory_report& m) const;
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return links_.registered_bytes(); }

 private:
  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) override {
    links_.on_datagram(from, kind, body);
  }
  void on_progress() override;
  void withdraw() noexcept override { links_.withdraw(); }
  void probe(int peer) override { links_.probe(peer); }

  void on_accepted(connection& c) override { inbox_.on_accepted(c); }
  void on_closed(connection& c) noexcept override { inbox_.on_closed(c); }
  void on_notice(connection& from, std::uint32_t word) override { rma_.on_notice(from, word); }
  void on_message(connection&, std::uint64_t index, const ibv_wc&) override { links_.receives().post(index); }
  void count(int peer, ledger& l) const noexcept override;

  endpoint core_;
  connections links_;
  inbox inbox_;
  rma_queue rma_;
};

/// Messages are RDMA writes into blocks of the receiver, polled there (P2 section 4.1); a signal is an RDMA
/// write of one word (P1 section 5.1); memory operations are the device's. Cost: one RDMA write a message,
/// one more for each half mailbox that the receiver has read.
using rc = assembled<rc_parts>;

}  // namespace chorale::transport

static_assert(chorale::multicast_transport<chorale::transport::rc>);
static_assert(chorale::window_transport<chorale::transport::rc>);
