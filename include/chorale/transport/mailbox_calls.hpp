// The awaitables of a mailbox, which are alike over every transport.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/transport/endpoint.hpp>

namespace chorale::transport {

/// Base of a transport `Net` that has a mailbox: awaitables made of its attempts, each of which returns false
/// as long as it has to wait.
///
/// * `try_signal(to, now)`, `try_signalled(from, now)`, `try_send(to, now, bytes)`;
/// * `try_receive(from, now, message)`, which sets `message` to the bytes that have arrived;
/// * `sender(from)`, a `Sender`, and `release(Sender)`, noexcept: the oldest message of that sender which has
/// been
///   handed out is given back.
template <class Net, class Sender>
class mailbox_calls {
 public:
  /// A message in a block of the receiver.
  class arrival {
   public:
    arrival(Net& net, Sender from, std::span<const std::byte> bytes) noexcept
        : net_(&net), from_(from), bytes_(bytes) {}
    arrival(arrival&& other) noexcept
        : net_(std::exchange(other.net_, nullptr)), from_(other.from_), bytes_(other.bytes_) {}
    arrival& operator=(arrival&& other) noexcept {
      std::swap(net_, other.net_);
      std::swap(from_, other.from_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~arrival() { release(); }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
    void release() noexcept {
      if (net_ != nullptr) std::exchange(net_, nullptr)->release(from_);
    }

   private:
    Net* net_;
    Sender from_;
    std::span<const std::byte> bytes_;
  };

  [[nodiscard]] auto signal(int to, epoch now) {
    return waiting{net(), to, now, [](Net& net, int peer, epoch call) { return net.try_signal(peer, call); }};
  }
  [[nodiscard]] auto signalled(int from, epoch now) {
    return waiting{net(), from, now,
                   [](Net& net, int peer, epoch call) { return net.try_signalled(peer, call); }};
  }
  [[nodiscard]] auto send(int to, epoch now, std::span<const std::byte> bytes) {
    return waiting{net(), to, now,
                   [bytes](Net& net, int peer, epoch call) { return net.try_send(peer, call, bytes); }};
  }
  [[nodiscard]] auto receive(int from, epoch now) { return waiting{net(), from, now, look{}}; }

 protected:
  ~mailbox_calls() = default;

 private:
  struct look {
    std::span<const std::byte> message{};
    bool operator()(Net& net, int from, epoch now) { return net.try_receive(from, now, message); }
    arrival result(Net& net, int from) { return {net, net.sender(from), message}; }
  };
  [[nodiscard]] Net& net() noexcept { return static_cast<Net&>(*this); }
};

}  // namespace chorale::transport
