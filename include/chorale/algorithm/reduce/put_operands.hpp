// SPDX-License-Identifier: Apache-2.0
// Reductions whose long operands are put into memory of the rank that combines them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce {

/// Transports on which long operands are put: the device performs memory operations, and an algorithm can
/// keep registered memory. On other transports blocks cost no more.
template <class Net>
concept puts_operands = reading_transport<Net> && keeping_transport<Net>;

/// True if an operand of `bytes` is put piece by piece rather than sent in mailbox blocks: a rendezvous,
/// without a copy at the sender (P2 section 4.2.2). All ranks know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_put(const Net& net, std::size_t bytes) noexcept {
  if constexpr (puts_operands<Net>)
    return transfer::is_zero_copy_one_way(net, bytes);
  else
    return false;
}

/// The pieces of an operand, and the two places that they use alternately: one is filled while the other is
/// combined. The same on all ranks.
class operand_pieces {
 public:
  /// `bytes`: size of the operand, more than 0, a multiple of the element size of `op`.
  operand_pieces(const reduction& op, std::size_t bytes) noexcept
      : bytes_(bytes), piece_(std::min(op.whole(most), bytes)) {}

  [[nodiscard]] std::size_t count() const noexcept { return (bytes_ + piece_ - 1) / piece_; }
  /// Bytes of both places.
  [[nodiscard]] std::size_t room() const noexcept { return std::min(bytes_, 2 * piece_); }
  /// Offset of piece `n` within both places.
  [[nodiscard]] std::size_t place(std::size_t n) const noexcept { return n % 2 * piece_; }
  [[nodiscard]] std::size_t offset(std::size_t n) const noexcept { return n * piece_; }
  template <class Byte>
  [[nodiscard]] std::span<Byte> of(std::span<Byte> operand, std::size_t n) const noexcept {
    return operand.subspan(offset(n), std::min(piece_, bytes_ - offset(n)));
  }

 private:
  /// Small enough to be combined from a cache, large enough to make the overhead of a put negligible.
  static constexpr std::size_t most = std::size_t{1} << 16;

  std::size_t bytes_;
  std::size_t piece_;
};

/// This rank's operand or partial result, to be put into the `operand_room` of rank `to`.
template <puts_operands Net>
class put_operand {
 public:
  /// `operand` must outlive the object, and pieces must not change between `put` and `flush`.
  put_operand(Net& net, call_id now, std::span<const std::byte> operand, const operand_pieces& pieces, int to)
      : net_(&net),
        now_(now),
        operand_(operand),
        pieces_(pieces),
        to_(to),
        lent_(transfer::lend(net, operand)) {}

  /// Waits until the place of piece `n` is free and puts the piece. Call it for all pieces in ascending
  /// order.
  task<> put(std::size_t n) {
    if (n == 0) {
      const auto invitation = co_await net_->receive(to_, now_);
      room_ = transfer::read_region(*net_, to_, now_, invitation, pieces_.room());
    } else if (n >= 2) {
      const auto combined = co_await net_->receive(to_, now_);
      static_cast<void>(transfer::exact(*net_, to_, now_, combined, 0));
    }
    co_await net_->put(room_, pieces_.place(n), lent_, lent_.current(pieces_.of(operand_, n)), now_);
    co_await net_->send(to_, now_, {});
  }
  task<> flush() { co_await net_->flush(to_, now_); }

 private:
  Net* net_;
  call_id now_;
  std::span<const std::byte> operand_;
  operand_pieces pieces_;
  int to_;
  transfer::call_memory<Net, const std::byte> lent_;
  remote_region room_{};
};

/// Memory of this rank for the operands that other ranks put, two pieces for each of them; kept between
/// calls.
template <puts_operands Net, class Owners>
class operand_room {
 public:
  /// `owners`: the other ranks in the order in which their operands are combined; at least one.
  operand_room(Net& net, call_id now, const Owners& owners, const operand_pieces& pieces)
      : net_(&net),
        now_(now),
        owners_(owners),
        pieces_(pieces),
        whole_(&chorale::kept_memory_of<operand_room>(
            net, static_cast<std::size_t>(owners.size()) * pieces.room())) {}

  /// Sends all owners the addresses for their operands.
  task<> invite() {
    for (int i = 0; i < owners_.size(); ++i) {
      const remote_region here = transfer::part_of(whole_->region(), of(i));
      co_await net_->send(owners_[i], now_, transfer::bytes_of(here));
    }
  }
  /// mine = ((mine op first owner's) op second owner's) ..., for piece `n`. Call it for all pieces in
  /// ascending order.
  task<> combine(std::size_t n, std::span<std::byte> mine, const reduction& op) {
    for (int i = 0; i < owners_.size(); ++i) {
      const int owner = owners_[i];
      {
        const auto here = co_await net_->receive(owner, now_);
        static_cast<void>(transfer::exact(*net_, owner, now_, here, 0));
      }
      op.combine_left(mine, of(i).subspan(pieces_.place(n), mine.size()));
      // The piece after the next one goes into the same place.
      if (n + 2 < pieces_.count()) co_await net_->send(owner, now_, {});
    }
  }

 private:
  [[nodiscard]] std::span<std::byte> of(int i) const noexcept {
    return whole_->memory().subspan(static_cast<std::size_t>(i) * pieces_.room(), pieces_.room());
  }

  Net* net_;
  call_id now_;
  Owners owners_;
  operand_pieces pieces_;
  kept_memory<Net>* whole_;
};

}  // namespace chorale::reduce
