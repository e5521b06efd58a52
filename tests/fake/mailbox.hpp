// SPDX-License-Identifier: Apache-2.0
// The minimal transport: a mailbox.
#pragma once

#include "transport.hpp"

namespace fake {

/// Models only `mailbox_transport`, which suffices for every algorithm that does not state otherwise, and the
/// last three members, which `automatic` needs.
class mailbox {
 public:
  mailbox(world& in, int rank) : all_(in, rank) {}

  [[nodiscard]] int rank() const noexcept { return all_.rank(); }
  [[nodiscard]] int size() const noexcept { return all_.size(); }
  [[nodiscard]] std::size_t block_bytes() const noexcept { return all_.block_bytes(); }
  [[nodiscard]] std::size_t blocks() const noexcept { return all_.blocks(); }
  [[nodiscard]] chorale::frame_arena& frames() noexcept { return all_.frames(); }
  template <class S>
  [[nodiscard]] S& state() {
    return all_.state<S>();
  }
  [[nodiscard]] auto signal(int to, chorale::call_id now) { return all_.signal(to, now); }
  [[nodiscard]] auto signalled(int from, chorale::call_id now) { return all_.signalled(from, now); }
  [[nodiscard]] auto send(int to, chorale::call_id now, std::span<const std::byte> bytes) {
    return all_.send(to, now, bytes);
  }
  [[nodiscard]] auto receive(int from, chorale::call_id now) { return all_.receive(from, now); }

  static constexpr const char* name = "fake mailbox";
  [[nodiscard]] bool oversubscribed() const noexcept { return all_.oversubscribed(); }
  [[nodiscard]] const chorale::config& settings() const noexcept { return all_.settings(); }

 private:
  transport all_;
};

}  // namespace fake

static_assert(chorale::tunable_transport<fake::mailbox> && !chorale::one_sided_transport<fake::mailbox> &&
              !chorale::multicast_transport<fake::mailbox> && !chorale::sharing_transport<fake::mailbox> &&
              !chorale::answering_transport<fake::mailbox> &&
              !chorale::path_choosing_transport<fake::mailbox>);
