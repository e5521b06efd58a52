// SPDX-License-Identifier: Apache-2.0
// A transport for algorithms in virtual time, without payloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <typeindex>

#include <chorale/transport/concepts.hpp>

#include "memory.hpp"
#include "waiting.hpp"
#include "world.hpp"

namespace chorale::simulation::ghosts {

/// One rank of a world: the operations of `transport::rc` at their costs, except multicast. Connections exist
/// from the beginning, and memory is registered.
class transport {
 public:
  transport(world& in, int rank) : in_(in), rank_(rank) {}
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  // Mailbox.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return in_.size(); }
  [[nodiscard]] std::size_t block_bytes() const noexcept;
  [[nodiscard]] std::size_t blocks() const noexcept { return settings().least_blocks(); }
  [[nodiscard]] frame_arena& frames() noexcept { return in_.frames(rank_); }
  template <class S>
  [[nodiscard]] S& state() {
    auto& place = states_[std::type_index{typeid(S)}];
    if (!place) place = std::make_shared<S>();
    return *static_cast<S*>(place.get());
  }
  [[nodiscard]] auto signal(int to, call_id now) {
    return does({"to signal", to}, [this, to, now] { return begin_signal(to, now); });
  }
  [[nodiscard]] auto signalled(int from, call_id now) {
    return does({"for a signal of", from}, [this, from, now, by = static_cast<lane*>(nullptr)]() mutable {
      return has_signal(from, now, by);
    });
  }
  [[nodiscard]] auto send(int to, call_id now, std::span<const std::byte> bytes) {
    return does({"for a free block of", to},
                [this, to, now, bytes] { return begin_send(to, now, bytes, nullptr); });
  }
  [[nodiscard]] auto receive(int from, call_id now) {
    return gives(
        {"for a message of", from},
        [this, from, now, by = static_cast<lane*>(nullptr)]() mutable { return has_message(from, now, by); },
        [this, from] { return take(from); });
  }

  // Sharing.
  [[nodiscard]] shared_ghost for_several(std::span<const std::byte> bytes) { return shared_ghost{bytes}; }
  [[nodiscard]] auto send(int to, call_id now, shared_ghost& payload) {
    return does({"for a free block of", to},
                [this, to, now, &payload] { return begin_send(to, now, payload.bytes(), &payload); });
  }

  // Answering.
  void will_answer(int from) { in_.between(from, rank_).acknowledged = in_.between(from, rank_).freed; }
  [[nodiscard]] std::uint64_t sent_to(int to) const { return in_.between(rank_, to).sent; }
  void answered_by(int to, std::uint64_t messages) {
    auto& out = in_.between(rank_, to);
    if (messages > out.known) out.known = static_cast<std::uint32_t>(messages);
  }

  // One-sided.
  static constexpr bool reads_by_device = true;
  /// Whether all ranks are neighbours.
  [[nodiscard]] bool copies_by_core() const noexcept;
  [[nodiscard]] std::size_t zero_copy_bytes() const noexcept;
  [[nodiscard]] registered_ghost expose(std::span<std::byte> memory, peer_set = {}) {
    return {rank_, memory};
  }
  [[nodiscard]] registered_ghost offer(std::span<const std::byte> memory, peer_set = {}) {
    return {rank_, memory};
  }
  [[nodiscard]] registered_ghost lend(std::span<const std::byte> memory, peer_set = {}) {
    return {rank_, memory};
  }
  [[nodiscard]] kept_ghost keep(std::size_t bytes, peer_set = {}) { return {in_, rank_, bytes}; }
  [[nodiscard]] scratch_ghost scratch(std::size_t bytes) { return {in_.aside(), scratch_taken_, bytes}; }
  [[nodiscard]] auto put(remote_region target, std::size_t, const registered_ghost&,
                         std::span<const std::byte> from, call_id) {
    return does({"to put to", target.owner},
                [this, target, bytes = from.size()] { return begin_put(target, bytes, false); });
  }
  [[nodiscard]] auto put_notified(remote_region target, std::size_t, const registered_ghost&,
                                  std::span<const std::byte> from, call_id) {
    return does({"to put to", target.owner},
                [this, target, bytes = from.size()] { return begin_put(target, bytes, true); });
  }
  [[nodiscard]] auto notified(int from, call_id) {
    return does({"for a notice of", from, true}, [this, from] { return has_notice(from); });
  }
  [[nodiscard]] auto flush(int peer, call_id) {
    return does({"to flush to", peer, true}, [this, peer] { return is_flushed(peer); });
  }
  [[nodiscard]] auto get(remote_region source, std::size_t, const registered_ghost&,
                         std::span<std::byte> into, call_id) {
    return does({"to get from", source.owner, true},
                [this, from = source.owner, bytes = into.size(), request = std::uint32_t{}]() mutable {
                  return has_got(from, bytes, request);
                });
  }

  // Mapping, which costs nothing, like registration.
  [[nodiscard]] bool maps_memory() const noexcept { return copies_by_core(); }
  [[nodiscard]] bool maps_within_place() const noexcept { return in_.has_neighbours(); }
  [[nodiscard]] auto map(remote_region there, call_id) {
    return gives(
        {"to map memory of", there.owner}, [] { return true; },
        [this, there] { return mapped_memory_of(there); });
  }
  template <class Awaited, class Ready>
  [[nodiscard]] auto until(call_id, Awaited, Ready ready) {
    return does({"for a word in mapped memory"}, [this, ready] { return in_.sees(rank_, ready()); });
  }
  void differs(int from, call_id now, std::uint32_t seen);
  /// Completes when everything before this rank's own time has happened.
  [[nodiscard]] auto in_order() {
    return does({"for its turn", -1, true}, [] { return true; });
  }
  [[nodiscard]] ghost_words shared_words() noexcept { return {in_, rank_}; }

  // Placed.
  [[nodiscard]] const places& layout() const noexcept { return in_.layout(); }
  [[nodiscard]] bool uses_lanes() const noexcept { return in_.has_neighbours() && in_.layout().count() > 1; }

  // Path choosing: all are connected.
  void wants_connection(int) noexcept {}

  // Tunable.
  static constexpr const char* name = "rc";
  [[nodiscard]] bool oversubscribed() const noexcept { return in_.hosts().largest() > in_.on().host.cores; }
  [[nodiscard]] const config& settings() const noexcept { return in_.settings(); }

  /// "waits for a message of rank 3".
  [[nodiscard]] std::string waits_for() const;

 private:
  struct nothing {
    void operator()() const noexcept {}
  };
  template <class Attempt, class Result>
  waiting<Attempt, Result> gives(standstill what, Attempt attempt, Result result) {
    return {in_, rank_, where_, what, attempt, result};
  }
  template <class Attempt>
  waiting<Attempt, nothing> does(standstill what, Attempt attempt) {
    return {in_, rank_, where_, what, attempt, nothing{}};
  }

  mapped_ghost mapped_memory_of(const remote_region& there);
  bool begin_signal(int to, call_id now);
  // `by`: the lane; null until the first attempt looks it up.
  bool has_signal(int from, call_id now, lane*& by);
  /// `shared`: null, or the shared payload that `bytes` belong to.
  bool begin_send(int to, call_id now, std::span<const std::byte> bytes, shared_ghost* shared);
  bool has_message(int from, call_id now, lane*& by);
  arrival_of_ghost take(int from);
  bool begin_put(const remote_region& target, std::size_t bytes, bool notifies);
  bool has_notice(int from);
  bool is_flushed(int peer);
  /// `request`: the number of the get; zero until it is begun.
  bool has_got(int from, std::size_t bytes, std::uint32_t& request);
  /// Polls `count` completions. @returns true.
  bool take_completions(std::uint32_t count);

  world& in_;
  int rank_;
  standstill where_;
  std::uint32_t scratch_taken_ = 0;  // a bit for each part
  std::map<std::type_index, std::shared_ptr<void>> states_;
};

}  // namespace chorale::simulation::ghosts

static_assert(chorale::sharing_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::answering_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::reading_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::keeping_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::mapping_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::scratch_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::path_choosing_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::tunable_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::laned_transport<chorale::simulation::ghosts::transport>);
static_assert(chorale::core_copying_transport<chorale::simulation::ghosts::transport>);
