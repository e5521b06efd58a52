// The awaitables of multicast.
#pragma once

#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/multicast_group.hpp>
#include <chorale/transport/waiting.hpp>

namespace chorale::transport {

inline auto endpoint::multicast_signal(epoch now) {
  return waiting{*this, (rank_ + 1) % size_, now,
                 [this, now] { return size_ == 1 || multicasts().try_signal(now); }};
}
inline auto endpoint::multicast_signalled(int root, epoch now) {
  return waiting{*this, root, now, [this, root, now] { return multicasts().try_signalled(root, now); }};
}
inline auto endpoint::multicast(epoch now, std::span<const std::byte> bytes) {
  return waiting{*this, size_ == 1 ? 0 : multicasts().slowest(), now,
                 [this, now, bytes] { return size_ == 1 || multicasts().try_send(now, bytes); }};
}
inline auto endpoint::multicast_receive(int root, epoch now) {
  struct look {
    multicast_group* group;
    int from;
    epoch now;
    std::span<const std::byte> message{};
    bool operator()() { return group->try_receive(from, now, message); }
    multicast_group::arrival result() { return {group, from, message}; }
  };
  return waiting{*this, root, now, look{&multicasts(), root, now}};
}

}  // namespace chorale::transport
