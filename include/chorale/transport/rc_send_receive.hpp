// Mailbox over reliable connections by send and receive: what the papers compare with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/transport/assembled.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/matched.hpp>
#include <chorale/transport/connections/rma_queue.hpp>
#include <chorale/transport/endpoint_user.hpp>

namespace chorale::transport {

/// The parts of `rc_send_receive`: those of `rc`, with matched messages in place of the inbox.
class rc_send_receive_parts final : private endpoint_user, private connection_user {
 public:
  static constexpr const char* name = "rc_send_receive";

  explicit rc_send_receive_parts(joined_group&& group);
  ~rc_send_receive_parts();
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return connections::plan(name, ranks, settings);
  }

  [[nodiscard]] endpoint& core() noexcept { return core_; }
  [[nodiscard]] const endpoint& core() const noexcept { return core_; }
  [[nodiscard]] matched& mailbox() noexcept { return matched_; }
  [[nodiscard]] const matched& mailbox() const noexcept { return matched_; }
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

  void on_closed(connection& c) noexcept override { matched_.on_closed(c); }
  void on_notice(connection& from, std::uint32_t word) override { rma_.on_notice(from, word); }
  void on_message(connection& from, std::uint64_t index, const ibv_wc& wc) override {
    matched_.on_message(from, index, wc);
  }
  void count(int peer, ledger& l) const noexcept override;

  endpoint core_;
  connections links_;
  matched matched_;
  rma_queue rma_;
};

/// What an MPI over send and receive does: copy, match, copy. One-sided and atomic operations are those of
/// the connections. Cost: one send and two copies a message.  Source: P1 section 6, P2 section 6 and P5
/// section 2, the baselines.
using rc_send_receive = assembled<rc_send_receive_parts>;

}  // namespace chorale::transport

static_assert(chorale::multicast_transport<chorale::transport::rc_send_receive>);
static_assert(chorale::window_transport<chorale::transport::rc_send_receive>);
