// The operands of all ranks where they lie, of which each rank combines a share for all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/read_operands.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// True if ranks read operands where they lie, and each has a core to combine them. The same on all ranks.
template <mailbox_transport Net>
[[nodiscard]] bool all_combine_at_once(const Net& net) noexcept {
  if constexpr (reads_operands<Net>)
    return transfer::own_cores_copy(net);
  else
    return false;
}

/// What a rank needs to combine a share of the elements of all ranks: `announce`, `find`, then `read`,
/// `combine` and `write` in pieces, then `finish`. Ranks have shares that do not overlap, so that none waits
/// for another in between. Cost: two short messages from each rank to each other one.
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

  /// `operand`: this rank's, not empty, as long on all ranks. `result`: where the others may write this
  /// rank's result: as long, `operand` itself or apart from it; or empty, if this rank has none. Both outlive
  /// the object. `piece`: the most that is read at once.
  operands_of_all(Net& net, call_id now, std::span<const std::byte> operand, std::span<std::byte> result,
                  std::size_t piece)
      : net_(&net),
        now_(now),
        operand_(operand),
        result_(result),
        exposed_(net.expose(result)),
        offered_(net.offer(operand.first(is_in_place() ? 0 : operand.size()))),
        piece_(piece),
        memory_(&memory_of(net, rooms * piece)),
        there_(static_cast<std::size_t>(net.size())) {}

  /// Tells the others where operand and result are.
  task<> announce() {
    const places here{transfer::part_of((is_in_place() ? exposed_ : offered_).region(), operand_),
                      transfer::part_of(exposed_.region(), result_)};
    for (int d = 1; d < net_->size(); ++d)
      co_await net_->send((net_->rank() + d) % net_->size(), now_, transfer::bytes_of(here));
  }
  /// Waits for the others to announce theirs. `root`: the rank that alone has a result, or -1.
  /// @throws error errc::mismatch if a region is not as long as this rank's operand.
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
  /// Memory of this rank for a piece, of which there are two: 0 and 1.
  [[nodiscard]] std::span<std::byte> place(int which, std::size_t bytes) const noexcept {
    return memory_->memory().subspan(static_cast<std::size_t>(which) * piece_, bytes);
  }
  /// Reads bytes of the operand of another rank, from `at` on, to a place or into this rank's result.
  task<> read(int from, std::size_t at, std::span<std::byte> into) {
    co_await net_->get(of(from).operand, at, covering(into), into, now_);
  }
  /// Writes a part of a place, or of this rank's result, into the result of another rank from `at` on. Over
  /// when that part may change.
  task<> write(int to, std::size_t at, std::span<const std::byte> from) {
    co_await net_->put(of(to).result, at, covering(from), from, now_);
    co_await net_->flush(to, now_);
  }
  /// into = ((x_0 op x_1) op x_2) ..., elements of all operands from byte `at` on. `into`: a part of place 0,
  /// or of a result that is apart from the operand. `op` is that of the coroutine that awaits this one.
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
  /// What a rank announces.
  struct places {
    remote_region operand;
    remote_region result;
  };
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

  [[nodiscard]] bool is_in_place() const noexcept {
    return !result_.empty() && result_.data() == operand_.data();
  }
  [[nodiscard]] const places& of(int rank) const noexcept { return there_[static_cast<std::size_t>(rank)]; }
  /// What covers a part of this rank's result, or else of a place.
  [[nodiscard]] const exposure& covering(std::span<const std::byte> part) const noexcept {
    const std::less<const std::byte*> before;
    const bool is_of_result =
        !before(part.data(), result_.data()) && before(part.data(), result_.data() + result_.size());
    return is_of_result ? exposed_ : memory_->exposure();
  }

  Net* net_;
  call_id now_;
  std::span<const std::byte> operand_;
  std::span<std::byte> result_;
  exposure exposed_;
  exposure offered_;  ///< of nothing if the call is in place
  std::size_t piece_;
  kept_memory* memory_;
  std::vector<places> there_;
};

}  // namespace chorale
