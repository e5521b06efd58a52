// SPDX-License-Identifier: Apache-2.0
// The parts of a transport that sends all messages over reliable connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/transport/assembled.hpp>
#include <chorale/transport/connections/rail.hpp>
#include <chorale/transport/endpoint_user.hpp>

namespace chorale::transport {

/// An endpoint and a rail over its first device port, and over that to the ranks of its place if `has_lanes`.
/// `Kind` defines these: the transport's `name`, `mailbox` and `has_lanes`.
template <class Kind>
class one_rail final : private endpoint_user {
 public:
  static constexpr const char* name = Kind::name;
  static constexpr bool has_lanes = Kind::has_lanes;

  explicit one_rail(joined_group&& group)
      : core_(*this, std::move(group)), rail_(core_, core_.ports().front(), 0, {}, core_.near_port()) {
    core_.channel().start_service();
  }
  ~one_rail() {
    core_.multicast().settle();
    rail_.close();
    core_.leave();
  }
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    auto made = connections::plan(name, ranks, settings);
    made.has_lanes = Kind::has_lanes;
    return made;
  }

  [[nodiscard]] endpoint& core() noexcept { return core_; }
  [[nodiscard]] const endpoint& core() const noexcept { return core_; }
  [[nodiscard]] auto& mailbox() noexcept { return rail_.mailbox(); }
  [[nodiscard]] const auto& mailbox() const noexcept { return rail_.mailbox(); }
  [[nodiscard]] rma_queue& one_sided() noexcept { return rail_.one_sided(); }
  [[nodiscard]] const rma_queue& one_sided() const noexcept { return rail_.one_sided(); }
  [[nodiscard]] const registration_cache& registrations() const noexcept {
    return rail_.one_sided().registrations();
  }
  /// Its connections, with their statistics.
  [[nodiscard]] const connections& links() const noexcept { return rail_.links(); }
  void describe(memory_report& m) const { rail_.describe(m); }
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return rail_.registered_bytes(); }

 private:
  void on_progress() override { rail_.on_progress(); }
  void withdraw() noexcept override { rail_.withdraw(); }
  void probe(int peer) override { rail_.probe(peer); }
  [[nodiscard]] std::string announcements() const override { return rail_.links().announcements(); }

  endpoint core_;
  rail<typename Kind::mailbox> rail_;
};

}  // namespace chorale::transport
