// SPDX-License-Identifier: Apache-2.0
// Some ranks of a group, as a group of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/places.hpp>
#include <chorale/core/remote_region.hpp>
#include <chorale/core/state_store.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

struct config;

/// Some ranks of a transport's group, as a group over the same transport: its rank i is `members[i]`. An
/// algorithm that is composed of others runs them among subsets. They keep their states in the subset. Errors
/// and regions name ranks by their numbers in the whole group.
///
/// Messages, puts and signals between two ranks are those of the transport, whichever subsets the two share:
/// algorithms that run one after the other among the same ranks in one call need different phases
/// (`call_id::later`). It has no multicasts.
template <placed_transport Net>
class subset {
 public:
  /// `members`: ranks of `net`, which include this one. Messages of fewer than `zero_copy_bytes` are copied,
  /// as are those that the transport copies.
  subset(Net& net, std::span<const int> members, std::size_t zero_copy_bytes = 0)
      : net_(net), members_(members.begin(), members.end()), zero_copy_bytes_(zero_copy_bytes) {
    const places& all = net.layout();
    int near = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i] == net.rank()) rank_ = static_cast<int>(i);
      if (all.of(members_[i]) == all.of(net.rank())) ++near;
    }
    if (near == size())
      peers_ = peer_set::near;
    else if (near == 1)
      peers_ = peer_set::far;
  }
  subset(const subset&) = delete;
  subset& operator=(const subset&) = delete;

  // The group.
  static constexpr const char* name = Net::name;  ///< that of the transport
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  /// The number of a rank of the subset in the whole group.
  [[nodiscard]] int rank_in_group(int rank) const noexcept {
    return members_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const config& settings() const noexcept { return net_.settings(); }
  [[nodiscard]] bool oversubscribed() const noexcept { return net_.oversubscribed(); }
  [[nodiscard]] bool is_on_adapter() const noexcept
      requires requires(const Net& seen) { seen.is_on_adapter(); } {
    return net_.is_on_adapter();
  }
  [[nodiscard]] frame_arena& frames() noexcept { return net_.frames(); }
  template <class State>
  [[nodiscard]] State& state() {
    return states_.template state<State>();
  }

  // Mailbox.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return net_.block_bytes(); }
  [[nodiscard]] std::size_t blocks() const noexcept { return net_.blocks(); }
  [[nodiscard]] auto signal(int to, call_id now) { return net_.signal(rank_in_group(to), now); }
  [[nodiscard]] auto signalled(int from, call_id now) { return net_.signalled(rank_in_group(from), now); }
  [[nodiscard]] auto send(int to, call_id now, std::span<const std::byte> bytes) {
    return net_.send(rank_in_group(to), now, bytes);
  }
  [[nodiscard]] auto receive(int from, call_id now) { return net_.receive(rank_in_group(from), now); }
  [[nodiscard]] auto for_several(std::span<const std::byte> bytes) requires sharing_transport<Net> {
    return net_.for_several(bytes);
  }
  template <class Payload>
  [[nodiscard]] auto send(int to, call_id now, Payload& payload)
      requires sharing_transport<Net> && requires(Net& net) { net.send(to, now, payload); } {
    return net_.send(rank_in_group(to), now, payload);
  }
  void will_answer(int from) noexcept requires answering_transport<Net> {
    net_.will_answer(rank_in_group(from));
  }
  [[nodiscard]] std::uint64_t sent_to(int to) const noexcept requires answering_transport<Net> {
    return std::as_const(net_).sent_to(rank_in_group(to));
  }
  void answered_by(int to, std::uint64_t messages) noexcept requires answering_transport<Net> {
    net_.answered_by(rank_in_group(to), messages);
  }
  void wants_connection(int peer) requires path_choosing_transport<Net> {
    net_.wants_connection(rank_in_group(peer));
  }
  [[nodiscard]] auto scratch(std::size_t bytes) { return chorale::scratch_of(net_, bytes); }

  // Messages of any length.
  [[nodiscard]] auto post_send(int to, call_id now, std::span<const std::byte> bytes)
      requires message_transport<Net> {
    return net_.post_send(rank_in_group(to), now, bytes);
  }
  [[nodiscard]] auto post_receive(int from, call_id now, std::span<std::byte> into)
      requires message_transport<Net> {
    return net_.post_receive(rank_in_group(from), now, into);
  }
  [[nodiscard]] auto sent(int to, call_id now) requires message_transport<Net> {
    return net_.sent(rank_in_group(to), now);
  }
  [[nodiscard]] auto received(int from, call_id now) requires message_transport<Net> {
    return net_.received(rank_in_group(from), now);
  }

  // One-sided operations.
  /// Whether the device executes reads.
  static constexpr bool reads_by_device = requires { requires Net::reads_by_device; };
  [[nodiscard]] std::size_t zero_copy_bytes() const noexcept requires memory_transport<Net> {
    return std::max(zero_copy_bytes_, net_.zero_copy_bytes());
  }
  [[nodiscard]] bool copies_by_core() const noexcept requires core_copying_transport<Net> {
    return net_.copies_by_core();
  }
  [[nodiscard]] auto expose(std::span<std::byte> memory) requires memory_transport<Net> {
    return net_.expose(memory, peers_);
  }
  [[nodiscard]] auto offer(std::span<const std::byte> memory) requires memory_transport<Net> {
    return net_.offer(memory, peers_);
  }
  [[nodiscard]] auto lend(std::span<const std::byte> memory) requires memory_transport<Net> {
    return net_.lend(memory, peers_);
  }
  [[nodiscard]] auto keep(std::size_t bytes) requires keeping_transport<Net> {
    return net_.keep(bytes, peers_);
  }
  template <class Memory>
  [[nodiscard]] auto put(remote_region target, std::size_t offset, const Memory& source,
                         std::span<const std::byte> from, call_id now) requires memory_transport<Net> {
    return net_.put(target, offset, source, from, now);
  }
  template <class Memory>
  [[nodiscard]] auto put_notified(remote_region target, std::size_t offset, const Memory& source,
                                  std::span<const std::byte> from, call_id now) requires memory_transport<Net>
  {
    return net_.put_notified(target, offset, source, from, now);
  }
  template <class Memory>
  [[nodiscard]] auto get(remote_region source, std::size_t offset, const Memory& target,
                         std::span<std::byte> into, call_id now) requires memory_transport<Net> {
    return net_.get(source, offset, target, into, now);
  }
  [[nodiscard]] auto flush(int peer, call_id now) requires memory_transport<Net> {
    return net_.flush(rank_in_group(peer), now);
  }
  [[nodiscard]] auto notified(int from, call_id now) requires memory_transport<Net> {
    return net_.notified(rank_in_group(from), now);
  }

  // Memory that ranks of a place map.
  [[nodiscard]] bool maps_memory() const noexcept requires mapping_transport<Net> {
    return net_.maps_memory() || (peers_ == peer_set::near && net_.maps_within_place());
  }
  [[nodiscard]] auto map(remote_region region, call_id now) requires mapping_transport<Net> {
    return net_.map(region, now);
  }
  template <class Awaited, class Ready>
  [[nodiscard]] auto until(call_id now, Awaited awaited, Ready ready) requires mapping_transport<Net> {
    return net_.until(
        now,
        [this, awaited] {
          const int rank = awaited();
          return rank < 0 ? rank : rank_in_group(rank);
        },
        ready);
  }
  /// In virtual time only.
  [[nodiscard]] auto shared_words() noexcept requires requires(Net& net) { net.shared_words(); } {
    return net_.shared_words();
  }
  /// The same.
  [[nodiscard]] auto in_order() requires requires(Net& net) { net.in_order(); } { return net_.in_order(); }
  void differs(int from, call_id now, std::uint32_t seen) requires mapping_transport<Net> {
    net_.differs(rank_in_group(from), now, seen);
  }

 private:
  Net& net_;
  std::vector<int> members_;
  std::size_t zero_copy_bytes_;
  int rank_ = -1;
  peer_set peers_ = peer_set::all;  ///< what the other members are to this rank
  state_store states_;
};

/// Whether all of these run over subsets of a transport's group.
template <class Net, class... Algorithms>
inline constexpr bool run_over_subsets = false;
/// The same over a transport that knows places.
template <placed_transport Net, class... Algorithms>
inline constexpr bool run_over_subsets<Net, Algorithms...> =
    (Algorithms::template runs_on<subset<Net>> && ...);

}  // namespace chorale
