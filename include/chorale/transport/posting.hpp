// A message that has been posted.
#pragma once

#include <cstdint>
#include <utility>

namespace chorale::transport {

/// Number `number` of the messages that this rank has posted to a peer, or from it.
struct posted_message {
  enum class way { to, from };
  int peer;
  way direction;
  std::uint64_t number;
};

class endpoint;
/// Lets go of all memory, since that of this message ends before it is over: by the exception in flight; or
/// else the call fails with errc::misuse.
void give_up(endpoint& core, const posted_message& message) noexcept;

/// Is kept beside the memory of a message that was posted. If it ends before the message is over, by an
/// exception or because nobody has waited, the transport lets go of all memory at once, by
/// `net.give_up(message)`, noexcept: what ends next may be that memory. Move-only.
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
