// Reliable connections to a few peers and datagrams to the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/mailbox_calls.hpp>
#include <chorale/transport/paths.hpp>
#include <chorale/transport/reliable/emulated_calls.hpp>

namespace chorale::transport {

/// Memory that is exposed both ways, or only a source: registered with the device, and known to the streams
/// under the same key.
class dual_exposure {
 public:
  dual_exposure(exposure registered, reliable::streams* table, std::span<const std::byte> memory,
                bool writable = true)
      : registered_(std::move(registered)), table_(table), memory_(memory), writable_(writable) {
    if (table_ != nullptr) table_->expose_as(registered_.region().key, memory_, writable_);
  }
  dual_exposure(dual_exposure&& other) noexcept
      : registered_(std::move(other.registered_)),
        table_(std::exchange(other.table_, nullptr)),
        memory_(other.memory_),
        writable_(other.writable_) {}
  dual_exposure& operator=(dual_exposure&& other) noexcept {
    std::swap(registered_, other.registered_);
    std::swap(table_, other.table_);
    std::swap(memory_, other.memory_);
    std::swap(writable_, other.writable_);
    return *this;
  }
  ~dual_exposure() {
    if (table_ != nullptr) table_->conceal(registered_.region().key, memory_, writable_);
  }
  [[nodiscard]] remote_region region() const noexcept { return registered_.region(); }
  [[nodiscard]] const exposure& registered() const noexcept { return registered_; }

 private:
  exposure registered_;
  reliable::streams* table_;
  std::span<const std::byte> memory_;
  bool writable_;
};

/// What all `hybrid` transports have in common, and what algorithms are given of them: so each algorithm is
/// compiled once, however many limits a program has.
class hybrid_paths : public paths, public mailbox_calls<hybrid_paths, paths::origin> {
  friend class mailbox_calls<hybrid_paths, origin>;
  using operating = reliable::emulated_operation<hybrid_paths>;

  /// A write goes one way as a whole, which is chosen when it begins.
  struct writing {
    hybrid_paths* net;
    one_sided by_connection;
    reliable::streams::write by_datagrams;
    path way = path::changing;
    bool operator()() {
      if (by_datagrams.target.owner == net->rank()) return by_connection();
      if (way == path::changing) way = net->way_to(by_datagrams.target.owner, by_datagrams.from.size());
      switch (way) {
        case path::changing:
          return false;
        case path::connection:
          return by_connection();
        case path::datagrams:
          break;
      }
      return net->packets().try_put(by_datagrams, by_connection.now);
    }
  };
  struct reading {
    hybrid_paths* net;
    one_sided by_connection;
    reliable::emulated_read<hybrid_paths> by_datagrams;
    path way = path::changing;
    bool operator()() {
      if (by_datagrams.source.owner == net->rank()) return by_connection();
      if (way == path::changing) way = net->way_to(by_datagrams.source.owner, 0);
      if (way == path::changing) return false;
      return way == path::connection ? by_connection() : by_datagrams();
    }
  };

  auto write_to(remote_region target, std::size_t offset, const dual_exposure& local,
                std::span<const std::byte> from, epoch now, ibv_wr_opcode opcode) {
    this->checked(target, offset, local.registered(), from);
    return waiting{*this, target.owner, now,
                   writing{this,
                           {this, opcode, target, offset, local.registered().lkey(), from, now},
                           {target, offset, from, opcode == IBV_WR_RDMA_WRITE_WITH_IMM}}};
  }

 public:
  static constexpr const char* name = "hybrid";
  static constexpr bool atomics_by_device = false;
  static constexpr bool reads_by_device = false;
  using seen_by_algorithms = hybrid_paths;

  [[nodiscard]] dual_exposure expose(std::span<std::byte> memory) {
    return {connected::expose(memory), &packets(), memory};
  }
  [[nodiscard]] dual_exposure expose_alone(std::span<std::byte> memory) {
    return {connected::expose_alone(memory), &packets(), memory};
  }
  [[nodiscard]] dual_exposure offer(std::span<const std::byte> memory) {
    return {connected::offer(memory), &packets(), memory, false};
  }
  [[nodiscard]] dual_exposure lend(std::span<const std::byte> memory) {
    return {connected::lend(memory), nullptr, memory};
  }
  /// To be called while a write of `from` (-1: of any rank) is awaited in memory.
  void expect(int from) { packets().expect(from); }

  [[nodiscard]] auto put(remote_region target, std::size_t offset, const dual_exposure& local,
                         std::span<const std::byte> from, epoch now) {
    return write_to(target, offset, local, from, now, IBV_WR_RDMA_WRITE);
  }
  [[nodiscard]] auto put_notified(remote_region target, std::size_t offset, const dual_exposure& local,
                                  std::span<const std::byte> from, epoch now) {
    return write_to(target, offset, local, from, now, IBV_WR_RDMA_WRITE_WITH_IMM);
  }
  [[nodiscard]] auto get(remote_region source, std::size_t offset, const dual_exposure& local,
                         std::span<std::byte> into, epoch now) {
    this->checked(source, offset, local.registered(), into);
    return waiting{*this, source.owner, now,
                   reading{this,
                           {this, IBV_WR_RDMA_READ, source, offset, local.registered().lkey(), into, now},
                           {this, source, offset, into}}};
  }
  [[nodiscard]] auto flush(int peer, epoch now) {
    return waiting{*this, peer, now, [this, peer] { return peer == rank() || try_flush(peer); }};
  }
  [[nodiscard]] auto notified(int from, epoch now) {
    return waiting{*this, from, now, [this, from, now] { return try_notified(from, now); }};
  }
  [[nodiscard]] auto fetch_add(remote_region target, std::size_t offset, std::uint64_t value, epoch now) {
    this->checked(target, offset, sizeof value);
    return waiting{*this, target.owner, now,
                   operating{this, target, offset, reliable::atomic_operation::fetch_add, value, 0}};
  }
  [[nodiscard]] auto compare_swap(remote_region target, std::size_t offset, std::uint64_t expected,
                                  std::uint64_t wanted, epoch now) {
    this->checked(target, offset, sizeof wanted);
    return waiting{
        *this, target.owner, now,
        operating{this, target, offset, reliable::atomic_operation::compare_swap, expected, wanted}};
  }

 protected:
  using paths::paths;
  ~hybrid_paths() = default;
};

/// A rank has reliable connections with at most `Limit` peers, chosen by `Choice`, and reaches the others by
/// reliable datagrams; all operations are there for all peers, and an algorithm sees no difference. Atomic
/// operations go by datagrams for all, so that they are atomic among themselves.
/// Cost: as `rc` for the peers with a connection, as `ud_rdma` for the rest; `Limit` queue pairs and
/// mailboxes a rank, however many ranks there are.  Source: P5 section 4.3, from the alltoall to every
/// collective.
template <int Limit, path_choice Choice = path_choice::busiest>
class hybrid final : public hybrid_paths {
  static_assert(Limit >= 0, "the number of connections of a rank");

 public:
  /// Collective over `group`. @throws error if there is no usable device or the ranks do not fit together.
  template <bootstrap::group G>
  hybrid(G& group, const config& settings)
      : hybrid(join(view_of(group, settings), plan(group.size(), settings))) {}
  explicit hybrid(joined_group&& group) : hybrid_paths(std::move(group), Limit, Choice) {}
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return paths::plan("hybrid " + std::to_string(Limit) + "/" + std::to_string(static_cast<int>(Choice)),
                       ranks, settings);
  }
};

}  // namespace chorale::transport

static_assert(chorale::path_choosing_transport<chorale::transport::hybrid<2>>);
static_assert(chorale::window_transport<chorale::transport::hybrid<2>>);
