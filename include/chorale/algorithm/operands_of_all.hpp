// The operands of all ranks where they lie, of which each rank combines a share for all.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/read_operands.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/lean_algorithm.hpp>
#include <chorale/core/lean_functional.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// True if ranks read operands where they lie, and each has a core to combine them. The same on all ranks.
template <mailbox_transport Net>
[[nodiscard]] bool all_combine_at_once(const Net& net) noexcept {
  if constexpr (reads_operands<Net>)
    return net.copies_by_core() && !net.oversubscribed();
  else
    return false;
}

/// What a rank needs to combine a share of the elements of all ranks: `announce`, `find`, then `read` and
/// `write` in pieces, then `finish`. Ranks have shares that do not overlap, so that none waits for another in
/// between. Cost: two short messages from each rank to each other one.
template <reads_operands Net>
class operands_of_all {
 public:
  /// What lets peers access memory of this rank.
  using exposure = decltype(std::declval<Net&>().offer({}));

  /// The most bytes of a piece, of an operand of `bytes` in elements of `op`: few enough for a near cache,
  /// enough for the cost of a read to vanish.
  [[nodiscard]] static std::size_t piece_bytes(const reduction& op, std::size_t bytes) noexcept {
    return std::min(op.whole(std::size_t{1} << 18), bytes);
  }
  /// What shares are multiples of, so that each page is read by one rank: to read a part of a page costs as
  /// much as to read all of it.
  [[nodiscard]] static std::size_t granule_bytes(const reduction& op) noexcept { return op.whole(4096); }

  /// `mine`: this rank's operand, which `exposed` covers and the others may read, and write if it says so;
  /// not empty, outlives it, and has as many bytes on all ranks. `piece`: the most that is read at once.
  operands_of_all(Net& net, call_id now, std::span<const std::byte> mine, exposure exposed, std::size_t piece)
      : net_(&net),
        now_(now),
        mine_(mine),
        exposed_(std::move(exposed)),
        piece_(piece),
        memory_(&memory_of(net, rooms * piece)),
        there_(static_cast<std::size_t>(net.size())) {}

  /// Tells the others where the operand is.
  task<> announce() {
    const remote_region here = transfer::part_of(exposed_.region(), mine_);
    for (int d = 1; d < net_->size(); ++d)
      co_await net_->send((net_->rank() + d) % net_->size(), now_, transfer::bytes_of(here));
  }
  /// Waits for the others to announce theirs.
  task<> find() {
    for (int d = 1; d < net_->size(); ++d) {
      const int from = (net_->rank() + d) % net_->size();
      const auto announced = co_await net_->receive(from, now_);
      there_[static_cast<std::size_t>(from)] =
          transfer::read_region(*net_, from, now_, announced, mine_.size());
    }
  }
  /// Memory of this rank for a piece, of which there are two: 0 and 1.
  [[nodiscard]] std::span<std::byte> place(int which, std::size_t bytes) const noexcept {
    return memory_->memory().subspan(static_cast<std::size_t>(which) * piece_, bytes);
  }
  /// What covers both places.
  [[nodiscard]] const auto& places() const noexcept { return memory_->exposure(); }
  /// Reads bytes of the operand of another rank, from `at` on, to where `target` covers.
  template <class Target>
  task<> read(int from, std::size_t at, std::span<std::byte> into, const Target& target) {
    co_await net_->get(region_of(from), at, target, into, now_);
  }
  /// Writes a part of a place, or of this rank's operand, over bytes of `region` from `at` on. Over when that
  /// part may change.
  task<> write(const remote_region& region, std::size_t at, std::span<const std::byte> from) {
    const std::less<const std::byte*> before;
    if (!before(from.data(), mine_.data()) && before(from.data(), mine_.data() + mine_.size()))
      co_await net_->put(region, at, exposed_, from, now_);
    else
      co_await net_->put(region, at, places(), from, now_);
    co_await net_->flush(region.owner, now_);
  }
  /// Where the operand of another rank is.
  [[nodiscard]] const remote_region& region_of(int rank) const noexcept {
    return there_[static_cast<std::size_t>(rank)];
  }
  /// This rank has read and written all of its share. Over when the others have theirs: this rank's operand
  /// may change then, and what they have written here is here.
  task<> finish() {
    for (int d = 1; d < net_->size(); ++d) co_await net_->send((net_->rank() + d) % net_->size(), now_, {});
    for (int d = 1; d < net_->size(); ++d) {
      const int from = (net_->rank() + d) % net_->size();
      const auto done = co_await net_->receive(from, now_);
      static_cast<void>(transfer::exact(*net_, from, now_, done, 0));
    }
  }

 private:
  static constexpr std::size_t rooms = 2;
  using kept_memory = decltype(std::declval<Net&>().keep(std::size_t{}));
  struct kept {
    std::optional<kept_memory> memory;
  };
  /// Kept from call to call.
  static kept_memory& memory_of(Net& net, std::size_t bytes) {
    auto& memory = net.template state<kept>().memory;
    if (!memory || memory->memory().size() < bytes) {
      memory.reset();
      memory.emplace(net.keep(bytes));
    }
    return *memory;
  }

  Net* net_;
  call_id now_;
  std::span<const std::byte> mine_;
  exposure exposed_;
  std::size_t piece_;
  kept_memory* memory_;
  std::vector<remote_region> there_;
};

}  // namespace chorale
