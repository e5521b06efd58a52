// SPDX-License-Identifier: Apache-2.0
// Reductions in which the combining rank reads the operands in place, piece by piece.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// Transports on which long operands are read. The core that reads a piece has it in its cache when it
/// combines it, so each byte moves between cores only once. Over adapters operands are sent instead: an
/// adapter transfers bytes while the core combines others, and waiting for each read would lose that overlap.
template <class Net>
concept reads_operands = core_copying_transport<Net> && keeping_transport<Net>;

/// True if an operand of `bytes` is read. Both sides have to know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_read(const Net& net, std::size_t bytes) noexcept {
  if constexpr (reads_operands<Net>)
    return transfer::is_zero_copy(net, bytes) && net.copies_by_core();
  else
    return false;
}

/// This rank's operand, offered to a rank that reads it: call `announce`, and `released` before the operand
/// changes.
template <reads_operands Net>
class offered_operand {
 public:
  /// `operand` must outlive the object.
  offered_operand(Net& net, call_id now, std::span<const std::byte> operand, int reader)
      : net_(&net), now_(now), operand_(operand), reader_(reader), offered_(transfer::offer(net, operand_)) {}

  /// Tells the reader where the operand is.
  task<> announce() {
    const remote_region here = transfer::part_of(offered_.region(), operand_);
    co_await net_->send(reader_, now_, transfer::bytes_of(here));
  }
  /// Waits until the reader has read all of it.
  task<> released() {
    const auto read = co_await net_->receive(reader_, now_);
    static_cast<void>(transfer::exact(*net_, reader_, now_, read, 0));
  }

 private:
  Net* net_;
  call_id now_;
  std::span<const std::byte> operand_;
  int reader_;
  transfer::call_memory<Net, const std::byte> offered_;
};

/// Another rank's operand, which this rank reads: call `find`, `read` for all pieces in any order, `release`.
template <reads_operands Net>
class operand_reader {
 public:
  /// Bytes of a piece, in whole elements of `op`: small enough for a core's cache, large enough to make the
  /// overhead of a read negligible.
  [[nodiscard]] static std::size_t piece_bytes(const reduction& op) noexcept {
    return op.whole(std::size_t{1} << 17);
  }

  /// `bytes`: the size of the operand of rank `owner`. `piece`: the most bytes read at once.
  operand_reader(Net& net, call_id now, int owner, std::size_t bytes, std::size_t piece)
      : net_(&net),
        now_(now),
        owner_(owner),
        bytes_(bytes),
        room_(&chorale::kept_memory_of<operand_reader>(net, std::min(bytes, piece))) {}

  /// Waits for the owner to announce the operand.
  task<> find() {
    const auto announced = co_await net_->receive(owner_, now_);
    there_ = transfer::read_region(*net_, owner_, now_, announced, bytes_);
  }
  /// Reads bytes [at, at + bytes). `piece()` holds them until the next read of any reader.
  task<> read(std::size_t at, std::size_t bytes) {
    piece_ = room_->memory().first(bytes);
    co_await net_->get(there_, at, room_->exposure(), piece_, now_);
  }
  /// Reads place.size() bytes from `at` on into `place`, which `exposed` covers.
  template <class Exposed>
  task<> read_to(std::span<std::byte> place, std::size_t at, const Exposed& exposed) {
    co_await net_->get(there_, at, exposed, place, now_);
  }
  [[nodiscard]] std::span<const std::byte> piece() const noexcept { return piece_; }
  /// Tells the owner that its operand may be changed.
  task<> release() { co_await net_->send(owner_, now_, {}); }

 private:
  Net* net_;
  call_id now_;
  int owner_;
  std::size_t bytes_;
  kept_memory<Net>* room_;  ///< one buffer for the pieces of all readers
  remote_region there_{};
  std::span<std::byte> piece_;
};

/// Offers `out` to rank `to` while reading an operand of rank `from` and combining it into `mine`; either may
/// be empty. `out` must not change or overlap `mine`. Precondition: `is_read` for each that is not empty.
/// `theirs_is_left`: the operand that is read is the left one. `op` must outlive the coroutine.
template <reads_operands Net>
task<> read_and_combine(Net& net, call_id now, int to, std::span<const std::byte> out, int from,
                        std::span<std::byte> mine, bool theirs_is_left, const reduction& op) {
  std::optional<offered_operand<Net>> given;
  if (!out.empty()) {
    given.emplace(net, now, out, to);
    co_await given->announce();
  }
  if (!mine.empty()) {
    const std::size_t most = operand_reader<Net>::piece_bytes(op);
    operand_reader<Net> theirs{net, now, from, mine.size(), most};
    co_await theirs.find();
    for (std::size_t at = 0; at < mine.size(); at += most) {
      const auto piece = mine.subspan(at, std::min(most, mine.size() - at));
      co_await theirs.read(at, piece.size());
      if (theirs_is_left)
        op.combine_right(theirs.piece(), piece);
      else
        op.combine_left(piece, theirs.piece());
    }
    co_await theirs.release();
  }
  if (given) co_await given->released();
}

}  // namespace chorale
