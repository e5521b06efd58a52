// The way of messages between adapters.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <chorale/simulation/machine/machine.hpp>

#include "../event_queue.hpp"
#include "../machine/adapter.hpp"
#include "../network/network.hpp"
#include "flight.hpp"

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
  passages(const machine& on, int hosts, event_queue& queue, events then);
  passages(const passages&) = delete;
  passages& operator=(const passages&) = delete;

  [[nodiscard]] flight& begin() { return hangar_.take(); }
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
  void leave(flight& one, instant rung);
  void depart(flight& one);
  void arrive(flight& one);
  void bring_back(flight& one);
  void complete_at(flight& one, instant when);
  template <class F>
  void at(instant when, F what) {
    queue_.add(when < now_ ? now_ : when, std::move(what));
  }
  [[nodiscard]] adapter& adapter_of(host_number host);
  [[nodiscard]] arrival carry(host_number from, host_number to, std::uint64_t bytes, const departure& leaves);

  adapter_costs costs_;
  simulation::network network_;
  std::vector<adapter> adapters_;
  event_queue& queue_;
  events then_;
  hangar hangar_;
  instant now_{};
  std::uint64_t messages_ = 0;
};

}  // namespace chorale::simulation::ghosts
