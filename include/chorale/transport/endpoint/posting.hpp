// SPDX-License-Identifier: Apache-2.0
// A message that has been posted.
#pragma once

#include <cstdint>
#include <utility>

namespace chorale::transport {

/// A message that this rank has posted to or from a peer. `number` counts those of this peer and side.
struct posted_message {
  enum class side { send, receive };
  int peer;
  side own_side;
  std::uint64_t number;
};

class endpoint;
/// Withdraws all memory, since the memory of this message is destroyed before the message is complete. The
/// reason is the exception in flight; if there is none, the call fails with errc::misuse.
void give_up(endpoint& core, const posted_message& message) noexcept;

/// Held next to the memory of a posted message. If it is destroyed before the message is complete, by an
/// exception or because it was never awaited, the transport withdraws all memory at once, through
/// `net.give_up(message)`, noexcept: that memory may be destroyed next. Move-only.
template <class Net>
class posting {
 public:
  posting(Net& net, const posted_message& message) noexcept : net_(&net), message_(message) {}
  posting(posting&& other) noexcept : net_(std::exchange(other.net_, nullptr)), message_(other.message_) {}
  posting& operator=(posting&& other) noexcept {
    std::swap(net_, other.net_);
    std::swap(message_, other.message_);
    return *this;
  }
  ~posting() {
    if (net_ != nullptr && !net_->is_over(message_)) [[unlikely]]
      net_->give_up(message_);
  }

 private:
  Net* net_;
  posted_message message_;
};

}  // namespace chorale::transport
