// SPDX-License-Identifier: Apache-2.0
// Reliable connections to a few peers and datagrams to the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <chorale/transport/assembled.hpp>
#include <chorale/transport/connections/rail.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/paths/path_router.hpp>
#include <chorale/transport/paths/routed_memory.hpp>
#include <chorale/transport/reliable/streams.hpp>

namespace chorale::transport {

/// The parts of all `hybrid` transports: those of `rc`, those of `ud_rdma`, and the routing between them.
class hybrid_parts final : private endpoint_user {
 public:
  static constexpr const char* name = "hybrid";
  static constexpr bool has_lanes = true;

  hybrid_parts(joined_group&& group, int limit, path_choice choice);
  ~hybrid_parts();
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings, int limit, path_choice choice);

  [[nodiscard]] endpoint& core() noexcept { return core_; }
  [[nodiscard]] const endpoint& core() const noexcept { return core_; }
  [[nodiscard]] path_router& mailbox() noexcept { return router_; }
  [[nodiscard]] const path_router& mailbox() const noexcept { return router_; }
  [[nodiscard]] routed_memory& one_sided() noexcept { return memory_; }
  [[nodiscard]] reliable::streams& packets() noexcept { return streams_; }
  [[nodiscard]] const reliable::streams& packets() const noexcept { return streams_; }
  [[nodiscard]] const registration_cache& registrations() const noexcept {
    return rail_.one_sided().registrations();
  }
  void describe(memory_report& m) const;
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return rail_.registered_bytes(); }

 private:
  void on_progress() override;
  void withdraw() noexcept override;
  void probe(int peer) override { rail_.probe(peer); }
  [[nodiscard]] std::string announcements() const override { return rail_.links().announcements(); }
  [[nodiscard]] std::uint64_t resent() const noexcept override { return streams_.statistics().resent; }
  std::span<const std::byte> last_words(int peer) override { return streams_.last_words(peer); }
  void on_farewell(int from, std::span<const std::byte> body) override { streams_.on_farewell(from, body); }

  endpoint core_;
  rail<rdma_mailbox> rail_;
  reliable::streams streams_;
  path_router router_;
  routed_memory memory_;
};

/// A rank has reliable connections to at most `Limit` peers, chosen by `Choice`, and reaches the others by
/// reliable datagrams. It reaches the ranks of its place by connections over `soft0`, if these have a lane.
/// All operations work for all peers, and algorithms see no difference. All atomic operations use datagrams,
/// so that they are atomic with respect to each other.
/// Cost: as `rc` for peers with a connection, as `ud_rdma` for the rest; `Limit` queue pairs and mailboxes
/// per rank, independent of the number of ranks. If `Choice` is `nearest` or `asked`, `Limit` is P5's k, the
/// number of pairwise exchange steps that use connections on every rank; this takes one more connection if
/// both `Limit` and the number of ranks are odd. Source: P5 section 4.3, generalized from alltoall to every
/// collective.
template <int Limit, path_choice Choice = path_choice::busiest>
class hybrid final : public assembled<hybrid_parts> {
  static_assert(Limit >= 0, "the number of connections of a rank");

 public:
  /// So that each algorithm is compiled once, whatever the number of different limits in a program.
  using seen_by_algorithms = assembled<hybrid_parts>;

  /// Collective over `group`. @throws error if there is no usable device or the ranks do not match.
  template <bootstrap::group Group>
  hybrid(Group& group, const config& settings)
      : hybrid(transport::join(endpoint::view_of(group, settings), plan(endpoint::ranks(group), settings))) {}
  /// Over a group that has been joined.
  explicit hybrid(joined_group&& group) : seen_by_algorithms(std::move(group), Limit, Choice) {}
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return hybrid_parts::plan(ranks, settings, Limit, Choice);
  }
};

}  // namespace chorale::transport

template <>
inline constexpr bool
    chorale::has_compiled_algorithms<chorale::transport::assembled<chorale::transport::hybrid_parts>> = true;
static_assert(chorale::path_choosing_transport<chorale::transport::hybrid<2>>);
static_assert(chorale::window_transport<chorale::transport::hybrid<2>>);
