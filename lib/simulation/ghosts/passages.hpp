// SPDX-License-Identifier: Apache-2.0
// The path of messages between adapters.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <chorale/simulation/machine/machine.hpp>

#include "../machine/adapter.hpp"
#include "../network/network.hpp"
#include "agenda.hpp"
#include "lane.hpp"

namespace chorale::simulation::ghosts {

/// All adapters and the network between them, and the caches of hosts. A message reserves each part of its
/// path when it gets there, so that messages are served in the same order as in sim0. There are two
/// exceptions: reception is reserved as soon as the message has left, its acknowledgement as soon as it is in
/// memory.
class passages {
 public:
  struct events {
    std::function<void(flight&)> placed;     ///< all of it is in the receiver's memory; not called for a get
    std::function<void(flight&)> completed;  ///< the sender has its completion; called for signalled messages
  };

  /// `queue` must outlive this object.
  passages(const machine& on, const host_layout& ranks, agenda& queue, events then);
  passages(const passages&) = delete;
  passages& operator=(const passages&) = delete;

  [[nodiscard]] flight& begin() { return flights_.take(); }
  /// The receiver releases a message that it had kept.
  void end(flight& one) noexcept { flights_.give_back(one); }
  /// Sends a message whose doorbell rings at `rung`.
  void send(flight& one, instant rung);
  /// Sets the time; no later call sends before it.
  void advance(instant now) noexcept { now_ = now; }

  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
  /// Bytes that adapters have sent, to others or to their own host.
  [[nodiscard]] std::uint64_t adapter_bytes() const noexcept { return adapter_bytes_; }

 private:
  /// Whether the message is sent burst by burst, so that messages posted behind it wait.
  [[nodiscard]] bool is_long(const flight& one) const noexcept {
    return one.what != flight::kind::get && one.bytes > costs_.burst;
  }
  /// Carries a message from core to core, without an adapter.
  void cross(flight& one, instant copied);
  void show(flight& one);
  void leave(flight& one);
  void depart(flight& one);
  void arrive(flight& one);
  void bring_back(flight& one);
  void complete(flight& one);
  template <auto Function>
  void at(instant when, flight& one) {
    queue_.add<Function>(when < now_ ? now_ : when, *this, one);
  }
  [[nodiscard]] host_number from_host(const flight& one) const noexcept { return host_of(one.from()); }
  [[nodiscard]] host_number to_host(const flight& one) const noexcept { return host_of(one.to()); }
  [[nodiscard]] host_number host_of(int rank) const noexcept {
    return static_cast<host_number>(hosts_.host_of(rank));
  }
  [[nodiscard]] adapter& adapter_of(host_number host);
  [[nodiscard]] arrival carry(host_number from, host_number to, std::uint64_t bytes, const departure& leaves);

  adapter_costs costs_;
  near_costs near_;
  host_layout hosts_;
  simulation::network network_;
  std::vector<adapter> adapters_;
  agenda& queue_;
  events then_;
  flight_pool flights_;
  instant now_{};
  std::uint64_t messages_ = 0;
  std::uint64_t adapter_bytes_ = 0;
};

}  // namespace chorale::simulation::ghosts
