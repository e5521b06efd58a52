// SPDX-License-Identifier: Apache-2.0
// An endpoint's use of the multicast group of its communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <chorale/transport/multicast/multicast_statistics.hpp>
#include <chorale/transport/wire/control_channel.hpp>

namespace chorale::transport {

class endpoint;
class multicast_group;

/// The multicast group of a communicator, which a rank joins at first use. Datagrams of the multicast kinds
/// arrive from the control channel on any thread; everything else runs on the rank's own thread.
class multicasts {
 public:
  /// `owner` must outlive this object, and must read no datagrams after this object has been destroyed.
  explicit multicasts(endpoint& owner);
  ~multicasts();
  multicasts(const multicasts&) = delete;
  multicasts& operator=(const multicasts&) = delete;

  /// Whether ports of this kind can join multicast groups.
  [[nodiscard]] bool are_possible() const;
  /// Largest payload of one message in bytes: what fits into a datagram of the path MTU.
  [[nodiscard]] std::size_t payload_bytes() const noexcept;

  /// Joins the group, if there is another rank. @throws error errc::unsupported, naming the remedy, if the
  /// device does not support multicast; as the verbs objects.
  void join();
  /// The group, created and joined at first use. Precondition: more than one rank. @throws error as `join`.
  [[nodiscard]] multicast_group& group() {
    if (!group_) [[unlikely]]
      make_group();
    return *group_;
  }

  void progress();
  /// Waits until all live ranks have received this one's multicasts, the deadline has passed, or the
  /// communicator fails. Idempotent.
  void settle() noexcept;

  [[nodiscard]] multicast_statistics statistics() const;
  /// Multicasts that this rank has retransmitted.
  [[nodiscard]] std::uint64_t resent() const noexcept;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;  ///< registered

 private:
  void make_group();

  endpoint* owner_;
  std::unique_ptr<multicast_group> group_;
  bool settled_ = false;
  control_channel::subscription datagrams_;
};

}  // namespace chorale::transport
