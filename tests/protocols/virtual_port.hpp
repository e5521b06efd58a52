// Datagrams among simulated ranks: what a UD queue pair does to them.
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

/// A datagram that has come.
struct datagram {
  int from = -1;
  std::uint16_t kind = 0;
  std::vector<std::byte> body;
};

/// The receive queue of a rank. It takes as many datagrams as it has receives posted; what comes when they
/// are used up is lost, as nobody polls or as too many send at once, and that is not as random as the net's
/// own losses. A solicited datagram raises one event if the queue is armed.
class virtual_port {
 public:
  virtual_port(virtual_net& net, std::size_t receives) : net_(&net), receives_(receives) {}

  /// From now on nothing is received: the queue pair is destroyed.
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
    if (waiting_.size() >= receives_) {
      ++overflows_;
      return net_->note([&] { return fmt::format("  no receive for kind {} of {}", d.kind, d.from); });
    }
    waiting_.push_back(d);
    if (solicited && armed_) std::exchange(armed_, nullptr)();
  }
  /// Hands each datagram that has come to `handler`, those that come meanwhile too.
  template <class Handler>
  void poll(Handler&& handler) {
    while (!waiting_.empty()) {
      const datagram d = std::move(waiting_.front());
      waiting_.pop_front();
      handler(d);
    }
  }
  [[nodiscard]] std::uint64_t overflows() const noexcept { return overflows_; }

 private:
  virtual_net* net_;
  std::size_t receives_;
  bool open_ = true;
  std::deque<datagram> waiting_;
  std::function<void()> armed_;
  std::uint64_t overflows_ = 0;
};

}  // namespace protocols
