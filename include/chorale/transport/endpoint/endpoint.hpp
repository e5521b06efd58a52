// SPDX-License-Identifier: Apache-2.0
// What every transport has: the joined group, and the parts that manage its calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/frame_arena.hpp>
#include <chorale/core/places.hpp>
#include <chorale/core/remote_region.hpp>
#include <chorale/core/state_store.hpp>
#include <chorale/transport/endpoint/entry.hpp>
#include <chorale/transport/endpoint/multicasts.hpp>
#include <chorale/transport/endpoint/progress_engine.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/group/group_view.hpp>
#include <chorale/transport/joining/joining.hpp>
#include <chorale/transport/joining/no_start_guard.hpp>
#include <chorale/transport/liveness/failures.hpp>
#include <chorale/transport/liveness/inquiry.hpp>
#include <chorale/transport/liveness/liveness.hpp>
#include <chorale/transport/memory/dependents.hpp>
#include <chorale/transport/observers/call_record.hpp>
#include <chorale/transport/wire/control_channel.hpp>
#include <chorale/transport/wire/mailbox.hpp>

namespace chorale::transport {

/// Coroutine frames and algorithm states of one communicator. One thread at a time.
class algorithm_store {
 public:
  [[nodiscard]] frame_arena& frames() noexcept { return frames_; }

  /// The `State` of this type, default-constructed at first use.
  template <class State>
  [[nodiscard]] State& state() {
    return states_.template state<State>();
  }

  /// Destroys all states. Precondition: no operation of this rank is in progress, and no peer can access
  /// memory that states keep.
  void end_states() noexcept { states_.end(); }

  /// Registered bytes kept by states.
  [[nodiscard]] std::size_t& kept_bytes() noexcept { return kept_bytes_; }
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

 private:
  frame_arena frames_;
  std::size_t kept_bytes_ = 0;
  state_store states_;
};

/// A rank in a group that it has joined: the device ports, and one object for each task that all transports
/// share. Only constructs and destroys these objects. One thread at a time.
class endpoint {
 public:
  /// `user`: the transport that owns it.
  endpoint(endpoint_user& user, joined_group&& group);
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// A number that changes with everything that inline code and the library must agree on, so that a program
  /// compiled with other headers is rejected instead of waiting for messages in the wrong place.
  static constexpr std::uint64_t binary_interface() noexcept {
    constexpr mailbox_layout probe{8200, 16};
    return sizeof(endpoint) | sizeof(status_page) << 16 | (probe.block_end(1) + padded(1000)) << 32 |
           sizeof(config) << 48;
  }
  /// The number of ranks of `group`, for the plan of a transport, which may be made before anything else.
  template <bootstrap::group Group>
  static int ranks(Group& group) {
    require_headers(binary_interface());
    return group.size();
  }
  template <bootstrap::group Group>
  static group_view view_of(Group& group, const config& c) {
    require_headers(binary_interface());
    return group_view::of(group, c);
  }

  // The group.
  [[nodiscard]] int rank() const noexcept { return channel_.rank(); }
  [[nodiscard]] int size() const noexcept { return channel_.size(); }
  [[nodiscard]] const config& settings() const noexcept { return settings_; }
  /// What is known about the ranks.
  [[nodiscard]] const membership& members() const noexcept { return *members_; }
  /// A random number by which users tell groups apart. It reveals nothing of their secrets.
  [[nodiscard]] std::uint32_t public_name() const noexcept;
  /// How the group was started, such as "singleton: ...".
  [[nodiscard]] const std::string& launched() const noexcept;
  /// True if ranks outnumber the cores on any host, so that waiting must yield.
  [[nodiscard]] bool oversubscribed() const noexcept;
  /// The message size in bytes from which zero copy is faster, if cores copy the data and each rank has a
  /// core: the largest value that any rank has measured; 0 if cores do not copy.
  [[nodiscard]] std::size_t zero_copy_from() const noexcept;
  /// Which ranks share a host.
  [[nodiscard]] const places& layout() const noexcept;
  /// Where this rank is.
  [[nodiscard]] const location& where() const noexcept;
  /// True if all ranks are on one host, and one device reaches all of them and maps memory of peers.
  [[nodiscard]] bool maps_memory() const noexcept;
  /// True if the ranks of each place map each other's memory. The same on all ranks.
  [[nodiscard]] bool maps_within_place() const noexcept;

  // The device.
  /// The device ports of this rank. The first one carries datagrams and is the subject of the functions
  /// below.
  [[nodiscard]] const std::vector<device_port>& ports() const noexcept { return ports_.all; }
  [[nodiscard]] const device_port& port() const noexcept { return ports_.all.front(); }
  /// The device port to the other ranks of this rank's place if it is not the first; otherwise null.
  [[nodiscard]] const device_port* near_port() const noexcept { return ports_.to_place(); }
  /// Whether some rank of the group has such a port. The same on all ranks.
  [[nodiscard]] bool uses_lanes() const noexcept { return ports_.some_have_near; }
  /// Whether soft0 copies messages between some ranks of the group. The same on all ranks.
  [[nodiscard]] bool copies_to_some() const noexcept {
    return ports_.some_have_near || port().device().is_soft();
  }
  /// The protection domain in which to allocate memory that these peers access: that of `soft0` if it reaches
  /// some of them, since soft0 copies fastest from and to its own memory, and adapters accept any memory.
  [[nodiscard]] const verbs::protection_domain& memory_domain(peer_set peers = peer_set::all) const noexcept {
    return (near_port() != nullptr && peers != peer_set::far ? *near_port() : port()).domain();
  }

  /// Announces the communicator over a transport named `transport`; `algorithms` as in `call_record`.
  /// Observers are notified from now on.
  void introduce(const char* transport, std::string (*algorithms)(operation));
  /// Messages that this rank itself has retransmitted.
  [[nodiscard]] std::uint64_t resent() const noexcept;
  /// As `endpoint_user::announcements`.
  [[nodiscard]] std::string announcements() const;

  // What all transports share.
  /// The thread inside the communicator, checked at the beginning of user calls.
  [[nodiscard]] occupancy& use() noexcept { return use_; }
  /// Objects that must release this transport's resources when it ends.
  [[nodiscard]] dependents& dependent_objects() noexcept { return dependents_; }
  /// State that algorithms keep.
  [[nodiscard]] algorithm_store& store() noexcept { return store_; }
  [[nodiscard]] const algorithm_store& store() const noexcept { return store_; }
  /// Datagrams among the ranks, and the service thread.
  [[nodiscard]] control_channel& channel() noexcept { return channel_; }
  [[nodiscard]] const control_channel& channel() const noexcept { return channel_; }
  /// Which ranks are alive, as far as this rank knows.
  [[nodiscard]] transport::liveness& liveness() noexcept { return liveness_; }
  [[nodiscard]] const transport::liveness& liveness() const noexcept { return liveness_; }
  /// Numbers and names of calls.
  [[nodiscard]] call_record& calls() noexcept { return calls_; }
  [[nodiscard]] const call_record& calls() const noexcept { return calls_; }
  /// What has failed.
  [[nodiscard]] transport::failures& failures() noexcept { return failures_; }
  [[nodiscard]] const transport::failures& failures() const noexcept { return failures_; }
  /// Questions and answers about the calls of peers.
  [[nodiscard]] transport::inquiry& inquiry() noexcept { return inquiry_; }
  [[nodiscard]] multicasts& multicast() noexcept { return multicasts_; }
  [[nodiscard]] const multicasts& multicast() const noexcept { return multicasts_; }
  /// Waiting and progress.
  [[nodiscard]] progress_engine& engine() noexcept { return engine_; }
  [[nodiscard]] const progress_engine& engine() const noexcept { return engine_; }

  /// Begins a call on this rank. @throws as `failures::require_sound` if an earlier one failed. Inlined into
  /// each call, where most of what it records is constant.
  [[gnu::always_inline]] call_id begin(const call& c) { return begin(c, c.signature()); }
  /// The same for a call whose signature is known.
  [[gnu::always_inline]] call_id begin(const call& c, std::uint32_t signature) {
    failures_.require_sound();
    clock::worked(host_work::call);
    return calls_.begin(c, signature);
  }

  /// Tells the other ranks that this rank leaves, and ends the service thread. Called by the transport's
  /// destructor once its queues are empty. Waits until all live ranks have received this rank's multicasts.
  void leave() noexcept;

  /// Registered bytes for datagrams, including those of the multicast group.
  [[nodiscard]] std::size_t datagram_bytes() const noexcept {
    return channel_.port().memory_bytes() + multicasts_.memory_bytes();
  }

 private:
  /// @throws std::system_error errc::unsupported unless the program was compiled with the library's headers.
  static void require_headers(std::uint64_t of_program);

  config settings_;
  endpoint_user* user_;
  rank_ports ports_;
  occupancy use_;
  std::unique_ptr<membership> members_;
  dependents dependents_;
  algorithm_store store_;
  control_channel channel_;
  no_start_guard start_;
  transport::liveness liveness_;
  call_record calls_;
  transport::failures failures_;
  transport::inquiry inquiry_;
  multicasts multicasts_;
  progress_engine engine_;
};

}  // namespace chorale::transport
