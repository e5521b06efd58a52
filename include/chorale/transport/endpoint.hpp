// What every transport has: the group that it has joined, and the parts that keep its calls together.
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
#include <chorale/transport/algorithm_store.hpp>
#include <chorale/transport/call_record.hpp>
#include <chorale/transport/control_channel.hpp>
#include <chorale/transport/dependents.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/entry.hpp>
#include <chorale/transport/failures.hpp>
#include <chorale/transport/group_view.hpp>
#include <chorale/transport/inquiry.hpp>
#include <chorale/transport/joining.hpp>
#include <chorale/transport/liveness.hpp>
#include <chorale/transport/mailbox.hpp>
#include <chorale/transport/multicasts.hpp>
#include <chorale/transport/no_start_guard.hpp>
#include <chorale/transport/progress_engine.hpp>

namespace chorale::transport {

/// A rank's place in a group that it has joined: the device ports, and one object for each thing that all
/// transports do alike. It makes them and ends them; what they do is theirs. One thread at a time.
class endpoint {
 public:
  /// `user`: the transport that owns it.
  endpoint(endpoint_user& user, joined_group&& group);
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// A number that changes with whatever inline code and the library must agree on, so that a program which
  /// was compiled with other headers is refused, and does not wait for messages in the wrong place.
  static constexpr std::uint64_t binary_interface() noexcept {
    constexpr mailbox_layout probe{8200, 16};
    return sizeof(endpoint) | sizeof(status_page) << 16 | probe.block_end(1) << 32 | sizeof(config) << 48;
  }
  template <bootstrap::group G>
  static group_view view_of(G& group, const config& c) {
    return checked(group_view::of(group, c, binary_interface()));
  }

  // The group.
  [[nodiscard]] int rank() const noexcept { return channel_.rank(); }
  [[nodiscard]] int size() const noexcept { return channel_.size(); }
  [[nodiscard]] const config& settings() const noexcept { return settings_; }
  /// A number that all ranks of this group have, and nobody else can guess.
  [[nodiscard]] std::uint64_t job() const noexcept { return channel_.secret(); }
  /// How the group came to be, e.g. "singleton: ...".
  [[nodiscard]] const std::string& launched() const noexcept;
  /// True if ranks outnumber the cores of some host, so that waiting must yield.
  [[nodiscard]] bool oversubscribed() const noexcept;
  /// True if all ranks are on one host.
  [[nodiscard]] bool is_on_one_host() const noexcept;

  // The device.
  /// The device ports of this rank. The first one is that of datagrams, and what is said below.
  [[nodiscard]] const std::vector<device_port>& ports() const noexcept { return ports_; }
  [[nodiscard]] const device_port& port() const noexcept { return ports_.front(); }

  /// The communicator is made, over a transport of that name; `algorithms` as `call_record` has it. Its
  /// observers are told from now on.
  void introduce(const char* transport, std::string (*algorithms)(operation));
  /// Messages that this rank has sent again, as far as it does that itself.
  [[nodiscard]] std::uint64_t resent() const noexcept;

  // What all transports do alike.
  /// Which thread is inside: to be asked where a call of the user begins.
  [[nodiscard]] occupancy& use() noexcept { return use_; }
  /// Who has to let go of this transport when it ends.
  [[nodiscard]] dependents& dependent_objects() noexcept { return dependents_; }
  /// What algorithms keep.
  [[nodiscard]] algorithm_store& store() noexcept { return store_; }
  [[nodiscard]] const algorithm_store& store() const noexcept { return store_; }
  /// Datagrams among the ranks, and the service thread.
  [[nodiscard]] control_channel& channel() noexcept { return channel_; }
  [[nodiscard]] const control_channel& channel() const noexcept { return channel_; }
  /// Who is alive, as far as this rank knows.
  [[nodiscard]] transport::liveness& liveness() noexcept { return liveness_; }
  [[nodiscard]] const transport::liveness& liveness() const noexcept { return liveness_; }
  /// Numbers and names of calls.
  [[nodiscard]] call_record& calls() noexcept { return calls_; }
  [[nodiscard]] const call_record& calls() const noexcept { return calls_; }
  /// What has failed.
  [[nodiscard]] transport::failures& failures() noexcept { return failures_; }
  [[nodiscard]] const transport::failures& failures() const noexcept { return failures_; }
  /// What peers say of their calls.
  [[nodiscard]] transport::inquiry& inquiry() noexcept { return inquiry_; }
  [[nodiscard]] multicasts& multicast() noexcept { return multicasts_; }
  [[nodiscard]] const multicasts& multicast() const noexcept { return multicasts_; }
  /// Waiting, and going on.
  [[nodiscard]] progress_engine& engine() noexcept { return engine_; }
  [[nodiscard]] const progress_engine& engine() const noexcept { return engine_; }

  /// Begins a call on this rank. @throws error errc::poisoned if an earlier one failed. Inline in each call,
  /// where most of what is recorded is constant.
  [[gnu::always_inline]] call_id begin(const call& c) { return begin(c, c.signature()); }
  /// The same of a call whose signature is known.
  [[gnu::always_inline]] call_id begin(const call& c, std::uint32_t signature) {
    failures_.require_sound();
    clock::worked(host_work::call);
    return calls_.begin(c, signature);
  }

  /// Tells the others that this rank leaves, and ends the service thread. Called by the destructor of the
  /// transport when its queues are empty. Waits until all ranks that are alive have what this one has
  /// multicast.
  void leave() noexcept;

  /// Registered bytes for datagrams, those of the multicast group among them.
  [[nodiscard]] std::size_t datagram_bytes() const noexcept {
    return channel_.port().memory_bytes() + multicasts_.memory_bytes();
  }

 private:
  static group_view checked(group_view group);

  config settings_;
  endpoint_user* user_;
  std::vector<device_port> ports_;
  std::unique_ptr<membership> members_;
  occupancy use_;
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
