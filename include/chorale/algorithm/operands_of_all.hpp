// SPDX-License-Identifier: Apache-2.0
// Reductions in which each rank reads all operands in place and combines one share of the elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/read_operands.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// True if ranks read operands in place and each rank has a core to itself to combine them. The same on all
/// ranks.
template <mailbox_transport Net>
[[nodiscard]] bool all_combine_at_once(const Net& net) noexcept {
  if constexpr (reads_operands<Net>)
    return transfer::own_cores_copy(net);
  else
    return false;
}

/// Combines one rank's share of the elements of all operands: call `announce`, `find`, then `read`, `combine`
/// and `write` piece by piece, then `finish`. Shares do not overlap, so ranks wait for each other only in
/// `find` and `finish`. Cost: two short messages from each rank to every other.
template <reads_operands Net>
class operands_of_all {
 public:
  /// Grants peers access to memory of this rank.
  using exposure = decltype(std::declval<Net&>().offer({}));

  /// The most bytes of a piece of an operand of `bytes`, in whole elements of `op`: small enough for a core's
  /// cache, large enough to make the overhead of a read negligible.
  [[nodiscard]] static std::size_t piece_bytes(const reduction& op, std::size_t bytes) noexcept {
    return std::min(op.whole(std::size_t{1} << 18), bytes);
  }
  /// The granularity of shares in bytes. Each page is read by one rank only, since reading part of a page
  /// costs as much as reading all of it.
  [[nodiscard]] static std::size_t granule_bytes(const reduction& op) noexcept { return op.whole(4096); }

  /// `operand`: this rank's operand, not empty, of the same length on all ranks. `result`: where the other
  /// ranks may write this rank's result, of the same length, either `operand` itself or not overlapping it;
  /// empty if this rank gets no result. Both must outlive the object. `piece`: the most bytes read at once.
  operands_of_all(Net& net, call_id now, std::span<const std::byte> operand, std::span<std::byte> result,
                  std::size_t piece)
      : net_(&net),
        now_(now),
        is_in_place_(!result.empty() && result.data() == operand.data()),
        operand_(operand.first(is_in_place_ ? 0 : operand.size())),
        result_(result),
        exposed_(transfer::expose(net, result_)),
        offered_(transfer::offer(net, operand_)),
        piece_(piece),
        memory_(&chorale::kept_memory_of<operands_of_all>(net, rooms * piece)),
        there_(static_cast<std::size_t>(net.size())) {
    if (is_in_place_) operand_ = result_;
  }

  /// This rank's operand in the memory that peers access: use it in place of the one given.
  [[nodiscard]] std::span<const std::byte> operand() const noexcept { return operand_; }
  /// The same for its result.
  [[nodiscard]] std::span<std::byte> result() const noexcept { return result_; }

  /// Tells the other ranks where the operand and the result are.
  task<> announce() {
    const places here{transfer::part_of(is_in_place_ ? exposed_.region() : offered_.region(), operand_),
                      transfer::part_of(exposed_.region(), result_)};
    for (int d = 1; d < net_->size(); ++d)
      co_await net_->send((net_->rank() + d) % net_->size(), now_, transfer::bytes_of(here));
  }
  /// Waits until the other ranks have announced theirs. `root`: the only rank that gets a result, or -1 if
  /// all do. @throws error errc::mismatch if a region is not as long as this rank's operand.
  task<> find(int root = -1) {
    for (int d = 1; d < net_->size(); ++d) {
      const int from = (net_->rank() + d) % net_->size();
      const auto announced = co_await net_->receive(from, now_);
      const auto bytes = transfer::exact(*net_, from, now_, announced, sizeof(places));
      places& found = there_[static_cast<std::size_t>(from)];
      std::memcpy(&found, bytes.data(), sizeof found);
      transfer::check_region(*net_, from, now_, found.operand, operand_.size());
      const bool has_result = root < 0 || root == from;
      transfer::check_region(*net_, from, now_, found.result, has_result ? operand_.size() : 0);
    }
  }
  /// One of two buffers for pieces, 0 or 1.
  [[nodiscard]] std::span<std::byte> place(int which, std::size_t bytes) const noexcept {
    return memory_->memory().subspan(static_cast<std::size_t>(which) * piece_, bytes);
  }
  /// Reads bytes of another rank's operand, from byte `at` on, into a buffer of `place` or into this rank's
  /// result.
  task<> read(int from, std::size_t at, std::span<std::byte> into) {
    co_await net_->get(of(from).operand, at, covering(into), into, now_);
  }
  /// Writes part of a buffer of `place`, or of this rank's result, into another rank's result from byte `at`
  /// on. `from` may be changed afterwards.
  task<> write(int to, std::size_t at, std::span<const std::byte> from) {
    co_await net_->put(of(to).result, at, covering(from), from, now_);
    co_await net_->flush(to, now_);
  }
  /// into = ((x_0 op x_1) op x_2) ..., for the elements of all operands from byte `at` on. `into`: part of
  /// buffer 0, or of a result that does not overlap the operand. `op` must outlive the coroutine.
  task<> combine(std::size_t at, std::span<std::byte> into, const reduction& op) {
    const auto own = operand_.subspan(at, into.size());
    const int first = net_->rank() == 0 ? 1 : 0;
    co_await read(first, at, into);
    if (net_->rank() == 0) op.combine_right(own, into);
    for (int from = 1; from < net_->size(); ++from) {
      if (from == net_->rank()) {
        op.combine_left(into, own);
      } else if (from != first) {
        const auto piece = place(1, into.size());
        co_await read(from, at, piece);
        op.combine_left(into, piece);
      }
    }
  }
  /// To be called when this rank has read and written its share. Returns when the others have too; then this
  /// rank's operand may be changed, and its result is complete.
  task<> finish() {
    for (int d = 1; d < net_->size(); ++d) co_await net_->send((net_->rank() + d) % net_->size(), now_, {});
    for (int d = 1; d < net_->size(); ++d) {
      const int from = (net_->rank() + d) % net_->size();
      const auto done = co_await net_->receive(from, now_);
      static_cast<void>(transfer::exact(*net_, from, now_, done, 0));
    }
    exposed_.copy_back();
  }

 private:
  /// The announcement of a rank.
  struct places {
    remote_region operand;
    remote_region result;
  };
  static constexpr std::size_t rooms = 2;

  [[nodiscard]] const places& of(int rank) const noexcept { return there_[static_cast<std::size_t>(rank)]; }
  /// The registration that covers `part` of this rank's result or of a buffer.
  [[nodiscard]] const exposure& covering(std::span<const std::byte> part) const noexcept {
    const std::less<const std::byte*> before;
    const bool is_of_result =
        !before(part.data(), result_.data()) && before(part.data(), result_.data() + result_.size());
    if (is_of_result) return exposed_;
    return memory_->exposure();
  }

  Net* net_;
  call_id now_;
  bool is_in_place_;
  std::span<const std::byte> operand_;
  std::span<std::byte> result_;
  transfer::call_memory<Net, std::byte> exposed_;
  transfer::call_memory<Net, const std::byte> offered_;  ///< empty if the call is in place
  std::size_t piece_;
  kept_memory<Net>* memory_;
  std::vector<places> there_;
};

}  // namespace chorale
