// SPDX-License-Identifier: Apache-2.0
// Datagrams among simulated ranks: the model of a UD queue pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "virtual_net.hpp"

namespace protocols {

/// A datagram that has arrived.
struct datagram {
  int from = -1;
  std::uint16_t kind = 0;
  std::vector<std::byte> body;
};

/// The receive queue of a rank. It holds as many datagrams as receives are posted; later ones are lost
/// because the rank does not poll or too many peers send at once, which is less random than the net's own
/// losses. A solicited datagram raises one event if the queue is armed.
class virtual_port {
 public:
  virtual_port(virtual_net& net, std::size_t receives) : net_(&net), receives_(receives) {}

  /// From now on no datagram is received: the queue pair is destroyed.
  void close() {
    open_ = false;
    waiting_.clear();
    armed_ = nullptr;
  }
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  /// The next solicited datagram calls `event`, once.
  void arm(std::function<void()> event) { armed_ = std::move(event); }

  void arrive(const datagram& d, bool solicited) {
    if (!open_) return;
    if (waiting_.size() >= receives_)
      return net_->note([&] { return fmt::format("  no receive for kind {} of {}", d.kind, d.from); });
    waiting_.push_back(d);
    if (solicited && armed_) std::exchange(armed_, nullptr)();
  }
  /// Passes each datagram that has arrived to `handler`, including those that arrive meanwhile.
  template <class Handler>
  bool poll(Handler&& handler) {
    const bool has_any = !waiting_.empty();
    while (!waiting_.empty()) {
      const datagram d = std::move(waiting_.front());
      waiting_.pop_front();
      handler(d);
    }
    return has_any;
  }

 private:
  virtual_net* net_;
  std::size_t receives_;
  bool open_ = true;
  std::deque<datagram> waiting_;
  std::function<void()> armed_;
};

}  // namespace protocols
