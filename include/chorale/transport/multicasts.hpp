// What an endpoint has to do with the multicast group of its communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <chorale/transport/control_channel.hpp>
#include <chorale/transport/multicast_statistics.hpp>

namespace chorale::transport {

class endpoint;
class multicast_group;

/// The group of a communicator, which a rank joins when it first needs it. Datagrams of the multicast kinds
/// come from the control channel, on any thread; all else is the rank's own thread's.
class multicasts {
 public:
  /// `owner` outlives it, and reads no datagrams when it has ended.
  explicit multicasts(endpoint& owner);
  ~multicasts();
  multicasts(const multicasts&) = delete;
  multicasts& operator=(const multicasts&) = delete;

  /// Whether ports of this kind can be joined to groups.
  [[nodiscard]] bool are_possible() const;
  /// Largest payload of one message, in bytes: what a datagram of the path MTU leaves.
  [[nodiscard]] std::size_t payload_bytes() const noexcept;

  /// Takes part from now on, if there is another rank. @throws error errc::unsupported naming the remedy if
  /// the device has no multicast, and as the verbs.
  void join();
  /// The group, made and joined if it is not there. Precondition: more than one rank. @throws error as
  /// `join`.
  [[nodiscard]] multicast_group& group() {
    if (!group_) [[unlikely]]
      make_group();
    return *group_;
  }

  void progress();
  /// Stays until all ranks that are alive have what this one has multicast, or the deadline has passed, or
  /// the communicator fails. A second call does nothing.
  void settle() noexcept;

  [[nodiscard]] multicast_statistics statistics() const;
  /// Multicasts that this rank has sent again.
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
