// SPDX-License-Identifier: Apache-2.0
// A transport that models the concepts of transport/concepts.hpp that algorithms use, and has nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <typeindex>
#include <utility>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/concepts.hpp>

#include "waiting.hpp"
#include "world.hpp"

namespace fake {

/// A message in a mailbox block, which is released when this object is destroyed.
class arrival {
 public:
  arrival(world& in, lane& from, std::uint64_t index, std::span<const std::byte> bytes) noexcept
      : in_(&in), from_(&from), index_(index), bytes_(bytes) {}
  arrival(arrival&& other) noexcept
      : in_(other.in_),
        from_(std::exchange(other.from_, nullptr)),
        index_(other.index_),
        bytes_(other.bytes_) {}
  arrival& operator=(arrival&& other) noexcept {
    std::swap(in_, other.in_);
    std::swap(from_, other.from_);
    std::swap(index_, other.index_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~arrival() { release(); }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  void release() noexcept {
    if (from_ != nullptr && !std::exchange(from_, nullptr)->release(index_))
      in_->complain("messages of a sender are not given back in their order");
  }

 private:
  world* in_;
  lane* from_;
  std::uint64_t index_;
  std::span<const std::byte> bytes_;
};

/// One rank of a world. An operation either completes at once or suspends the rank.
class transport {
 public:
  transport(world& in, int rank) : in_(in), rank_(rank) {}
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  // Mailbox.
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return in_.size(); }
  [[nodiscard]] std::size_t block_bytes() const noexcept { return in_.setting().block_bytes; }
  [[nodiscard]] std::size_t blocks() const noexcept { return in_.setting().blocks; }
  [[nodiscard]] chorale::frame_arena& frames() noexcept { return in_.frames(rank_); }
  template <class S>
  [[nodiscard]] S& state() {
    auto& place = states_[std::type_index{typeid(S)}];
    if (!place) place = std::make_shared<S>();
    return *static_cast<S*>(place.get());
  }
  [[nodiscard]] auto signal(int to, chorale::call_id now) {
    return does("to signal", to, now, [&lane = out(to), now] {
      lane.signal(now);
      return true;
    });
  }
  [[nodiscard]] auto signalled(int from, chorale::call_id now) {
    return does("a signal", from, now, [&lane = in(from), now] { return lane.is_signalled(now); });
  }
  [[nodiscard]] auto send(int to, chorale::call_id now, std::span<const std::byte> bytes) {
    return does("a free block", to, now, [&lane = out(to), now, bytes] {
      if (!lane.has_room()) return false;
      lane.send(now, bytes);
      return true;
    });
  }
  [[nodiscard]] auto receive(int from, chorale::call_id now) {
    return gives(
        "a message", from, now, [&lane = in(from)] { return lane.has_message(); },
        [this, &lane = in(from), now] { return taken(lane, now); });
  }

  /// A payload that its owner must not change.
  class shared_payload {
   public:
    explicit shared_payload(std::span<const std::byte> bytes)
        : bytes_(bytes), given_(bytes.begin(), bytes.end()) {}
    shared_payload(const shared_payload&) = delete;
    shared_payload& operator=(const shared_payload&) = delete;
    [[nodiscard]] std::span<const std::byte> bytes() const {
      if (!std::equal(bytes_.begin(), bytes_.end(), given_.begin()))
        throw broken("a payload for several ranks has changed between them");
      return bytes_;
    }

   private:
    std::span<const std::byte> bytes_;
    std::vector<std::byte> given_;
  };
  [[nodiscard]] shared_payload for_several(std::span<const std::byte> bytes) { return shared_payload{bytes}; }
  [[nodiscard]] auto send(int to, chorale::call_id now, shared_payload& payload) {
    return send(to, now, payload.bytes());
  }
  void will_answer(int from) noexcept {
    if (!in(from).will_be_answered()) in_.complain("will_answer() with messages that were not given back");
  }
  [[nodiscard]] std::uint64_t sent_to(int to) const noexcept { return in_.between(rank_, to).sent(); }
  void answered_by(int to, std::uint64_t messages) noexcept {
    if (!out(to).is_answered(messages))
      in_.complain("answered_by() of a rank that has not given back the messages");
  }

  // One-sided.
  static constexpr bool reads_by_device = true;
  [[nodiscard]] std::size_t zero_copy_bytes() const noexcept { return in_.setting().zero_copy_bytes; }
  [[nodiscard]] bool copies_by_core() const noexcept { return in_.setting().copies_by_core; }
  [[nodiscard]] registered_span expose(std::span<std::byte> memory, chorale::peer_set peers = {}) {
    return registered(memory, {access::exposed, peers});
  }
  [[nodiscard]] registered_span offer(std::span<const std::byte> memory, chorale::peer_set peers = {}) {
    return registered(memory, {access::offered, peers});
  }
  [[nodiscard]] registered_span lend(std::span<const std::byte> memory, chorale::peer_set peers = {}) {
    return registered(memory, {access::lent, peers});
  }
  [[nodiscard]] kept_memory keep(std::size_t bytes, chorale::peer_set peers = {}) {
    return {in_.memory(), rank_, bytes, peers};
  }
  [[nodiscard]] scratch_memory scratch(std::size_t bytes) { return {in_.memory(), bytes}; }
  [[nodiscard]] auto put(chorale::remote_region target, std::size_t offset, const registered_span& source,
                         std::span<const std::byte> from, chorale::call_id now) {
    return does("to put", target.owner, now, [this, target, offset, &source, from] {
      begin_put(target, offset, source, from);
      return true;
    });
  }
  [[nodiscard]] auto put_notified(chorale::remote_region target, std::size_t offset,
                                  const registered_span& source, std::span<const std::byte> from,
                                  chorale::call_id now) {
    return does("to put", target.owner, now, [this, target, offset, &source, from, now] {
      begin_put(target, offset, source, from);
      out(target.owner).notice(now);
      return true;
    });
  }
  [[nodiscard]] auto notified(int from, chorale::call_id now) {
    return does("a notice", from, now, [&lane = in(from), now] {
      if (!lane.has_notice()) return false;
      lane.take_notice(now);
      return true;
    });
  }
  [[nodiscard]] auto flush(int peer, chorale::call_id now) {
    return does("to flush", peer, now, [&lane = out(peer)] {
      lane.flush();
      return true;
    });
  }
  [[nodiscard]] auto get(chorale::remote_region source, std::size_t offset, const registered_span& target,
                         std::span<std::byte> into, chorale::call_id now) {
    return does("to get", source.owner, now, [this, source, offset, key = target.region().key, into] {
      copy(there("a get", source, offset, into.size(), access::offered),
           here("the target of a get", source.owner, key, into, access::exposed));
      return true;
    });
  }

  // Placed.
  [[nodiscard]] const chorale::places& layout() const noexcept { return in_.layout(); }
  [[nodiscard]] bool maps_within_place() const noexcept {
    return maps_memory() || in_.setting().maps_within_place;
  }

  // Mapping: all ranks see everything.
  [[nodiscard]] bool maps_memory() const noexcept { return in_.setting().maps_memory; }
  struct seen_memory {
    std::span<std::byte> bytes;
    [[nodiscard]] std::span<std::byte> memory() const noexcept { return bytes; }
  };
  [[nodiscard]] auto map(chorale::remote_region region, chorale::call_id now) {
    return gives(
        "to map", region.owner, now, [] { return true; },
        [this, region] {
          // Some seeds have one rank that cannot map it; then no rank uses shared memory.
          if (rank_ == in_.setting().blind_rank) return seen_memory{};
          return seen_memory{there("a mapping", region, 0, region.bytes, access::exposed)};
        });
  }
  template <class Awaited, class Ready>
  [[nodiscard]] auto until(chorale::call_id now, Awaited awaited, Ready ready) {
    return does("a change of shared memory", awaited(), now, ready);
  }
  void differs(int from, chorale::call_id now, std::uint32_t seen) {
    throw broken("rank " + std::to_string(rank_) + " is in call " + std::to_string(now.number) +
                 ", and rank " + std::to_string(from) + " in call " + std::to_string(seen));
  }

  // Path choosing: there is only one path.
  void wants_connection(int peer) {
    if (peer < 0 || peer >= size() || peer == rank_) in_.complain("a connection with no peer is wanted");
  }

  // Multicast.
  void join_multicast() noexcept {}
  [[nodiscard]] std::size_t multicast_bytes() const noexcept { return in_.setting().block_bytes; }
  [[nodiscard]] auto multicast_signal(chorale::call_id now) {
    return does("to multicast a signal", -1, now, [this, now] {
      for (int to = 0; to < size(); ++to) in_.multicast_between(rank_, to).signal(now);
      return true;
    });
  }
  [[nodiscard]] auto multicast_signalled(int root, chorale::call_id now) {
    return does("a multicast signal", root, now,
                [&lane = in_.multicast_between(root, rank_), now] { return lane.is_signalled(now); });
  }
  [[nodiscard]] auto multicast(chorale::call_id now, std::span<const std::byte> bytes) {
    return does("room in a multicast window", -1, now, [this, now, bytes] {
      for (int to = 0; to < size(); ++to)
        if (to != rank_ && !in_.multicast_between(rank_, to).has_room()) return false;
      for (int to = 0; to < size(); ++to)
        if (to != rank_) in_.multicast_between(rank_, to).send(now, bytes);
      return true;
    });
  }
  [[nodiscard]] auto multicast_receive(int root, chorale::call_id now) {
    lane& from = in_.multicast_between(root, rank_);
    return gives(
        "a multicast message", root, now, [&from] { return from.has_message(); },
        [this, &from, now] { return taken(from, now); });
  }

  // Tunable.
  static constexpr const char* name = "fake";
  [[nodiscard]] bool oversubscribed() const noexcept { return in_.setting().oversubscribed; }
  [[nodiscard]] const chorale::config& settings() const noexcept { return in_.config(); }

 private:
  template <class Attempt, class Result>
  waiting<Attempt, Result> gives(const char* operation, int peer, chorale::call_id now, Attempt attempt,
                                 Result result) {
    return {in_, rank_, operation, peer, now, attempt, result};
  }
  template <class Attempt>
  waiting<Attempt, nothing> does(const char* operation, int peer, chorale::call_id now, Attempt attempt) {
    return {in_, rank_, operation, peer, now, attempt, nothing{}};
  }
  [[nodiscard]] lane& out(int to) { return in_.between(rank_, checked(to)); }
  [[nodiscard]] lane& in(int from) { return in_.between(checked(from), rank_); }
  [[nodiscard]] int checked(int peer) const {
    if (peer < 0 || peer >= size()) throw broken("there is no rank " + std::to_string(peer));
    return peer;
  }
  [[nodiscard]] registered_span registered(std::span<const std::byte> memory, permission allowed) {
    if (in_.refuses(memory))
      throw chorale::error(std::make_error_code(std::errc::bad_address),
                           "the device refuses memory of rank " + std::to_string(rank_));
    return {in_.memory(), rank_, memory, allowed};
  }
  arrival taken(lane& from, chorale::call_id now) {
    const std::uint64_t index = from.received();
    return {in_, from, index, from.receive(now)};
  }

  /// The put is executed later; then both registrations are checked again.
  void begin_put(const chorale::remote_region& target, std::size_t offset, const registered_span& source,
                 std::span<const std::byte> from) {
    const std::uint32_t key = source.region().key;
    static_cast<void>(here("the source of a put", target.owner, key, from, access::lent));
    static_cast<void>(there("a put", target, offset, from.size(), access::exposed));
    out(target.owner)
        .put(
            [this, target, offset, key, from] {
              copy(here("the source of a put under way", target.owner, key, from, access::lent),
                   there("a put under way", target, offset, from.size(), access::exposed));
            },
            !source.is_kept());
  }
  [[nodiscard]] std::span<std::byte> here(const char* what, int peer, std::uint32_t key,
                                          std::span<const std::byte> memory, access needed) const {
    return in_.memory().checked(describe(what), rank_, peer, key,
                                reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), needed);
  }
  [[nodiscard]] std::span<std::byte> there(const char* what, const chorale::remote_region& region,
                                           std::size_t offset, std::size_t bytes, access needed) const {
    if (offset > region.bytes || bytes > region.bytes - offset)
      throw broken(describe(what) + " leaves its region");
    return in_.memory().checked(describe(what), checked(region.owner), rank_, region.key,
                                region.address + offset, bytes, needed);
  }
  [[nodiscard]] std::string describe(const char* what) const {
    return std::string{what} + " of rank " + std::to_string(rank_);
  }
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
    if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
  }

  world& in_;
  int rank_;
  std::map<std::type_index, std::shared_ptr<void>> states_;
};

/// The error of such a run over this transport; empty if there was none.
template <class Program>
std::string outcome(const conditions& c, const Program& program) {
  try {
    fake::run_ranks<transport>(c, program);
  } catch (const broken& e) {
    return e.what();
  }
  return {};
}

}  // namespace fake

static_assert(chorale::reading_transport<fake::transport>);
static_assert(chorale::core_copying_transport<fake::transport>);
static_assert(chorale::sharing_transport<fake::transport>);
static_assert(chorale::answering_transport<fake::transport>);
static_assert(chorale::keeping_transport<fake::transport>);
static_assert(chorale::scratch_transport<fake::transport>);
static_assert(chorale::mapping_transport<fake::transport>);
static_assert(chorale::placed_transport<fake::transport>);
static_assert(chorale::multicast_transport<fake::transport>);
static_assert(chorale::path_choosing_transport<fake::transport>);
static_assert(chorale::tunable_transport<fake::transport>);
