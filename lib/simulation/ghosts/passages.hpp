// The way of messages between adapters.
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

/// All adapters, and the network between them: what a message goes through, each part when it comes there,
/// so that messages have their turns as those of sim0 have. Only what is received is asked for as soon as the
/// message has left, and acknowledgements as soon as it is placed.
class passages {
 public:
  struct events {
    std::function<void(flight&)> placed;     ///< all of it is in the memory of the receiver; not of a get
    std::function<void(flight&)> completed;  ///< the sender's completion is there, if it is signalled
  };

  /// `queue` outlives it.
  passages(const machine& on, int hosts, agenda& queue, events then);
  passages(const passages&) = delete;
  passages& operator=(const passages&) = delete;

  [[nodiscard]] flight& begin() { return hangar_.take(); }
  /// Its receiver has kept that message, and needs it no more.
  void end(flight& one) noexcept { hangar_.give_back(one); }
  /// The doorbell rings.
  void send(flight& one, instant rung);
  /// The time; nothing will be sent before it any more.
  void advance(instant now) noexcept { now_ = now; }

  [[nodiscard]] simulation::network& links() noexcept { return network_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  /// Whether it goes burst by burst, and what is posted behind it waits.
  [[nodiscard]] bool is_long(const flight& one) const noexcept {
    return one.what != flight::kind::get && one.bytes > costs_.burst;
  }
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
    return static_cast<host_number>(rank / ranks_per_host_);
  }
  [[nodiscard]] adapter& adapter_of(host_number host);
  [[nodiscard]] arrival carry(host_number from, host_number to, std::uint64_t bytes, const departure& leaves);

  adapter_costs costs_;
  int ranks_per_host_;
  simulation::network network_;
  std::vector<adapter> adapters_;
  agenda& queue_;
  events then_;
  hangar hangar_;
  instant now_{};
  std::uint64_t messages_ = 0;
};

}  // namespace chorale::simulation::ghosts
