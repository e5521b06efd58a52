// A message on its way.
#pragma once

#include <cstdint>
#include <vector>

#include <chorale/simulation/time.hpp>

#include "../machine/adapter.hpp"
#include "../network/network.hpp"
#include "lane.hpp"
#include "steady.hpp"

namespace chorale::simulation::ghosts {

/// A message from the doorbell to the completion.
struct flight {
  enum class kind : std::uint8_t { signal, message, notification, put, notified_put, get };

  kind what = kind::signal;
  bool is_in_request = false;  ///< it was posted inline, and the request has room for it
  int from = 0;
  int to = 0;
  lane* over = nullptr;  ///< from `from` to `to`
  host_number from_host = 0;
  host_number to_host = 0;
  std::uint32_t from_queue_pair = 0;
  std::uint32_t to_queue_pair = 0;
  std::uint64_t bytes = 0;
  std::uint64_t left = 0;   ///< of these so many have not departed
  std::uint64_t value = 0;  ///< of a signal or a notification
  ghost content;            ///< of a message
  departure leaves{};
  placement placed{};

  [[nodiscard]] bool notifies() const noexcept { return what == kind::notified_put; }
  /// Whether its sender hears of its end.
  [[nodiscard]] bool is_signalled() const noexcept {
    return what == kind::put || what == kind::notified_put || what == kind::get;
  }
};

/// Flights, each at its place until it is given back.
class hangar {
 public:
  [[nodiscard]] flight& take() {
    if (free_.empty()) return all_.add();
    flight& one = *free_.back();
    free_.pop_back();
    return one;
  }
  void give_back(flight& one) {
    one = {};
    free_.push_back(&one);
  }

 private:
  steady<flight> all_;
  std::vector<flight*> free_;
};

}  // namespace chorale::simulation::ghosts
