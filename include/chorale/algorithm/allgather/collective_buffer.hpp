// SPDX-License-Identifier: Apache-2.0
// P4's collective buffer: registered memory in which an allgather collects short blocks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allgather {

/// Memory at each rank that its partners write into without a handshake (P4 section 4.2). The paper registers
/// it and exchanges its addresses when the communicator is made. Here both happen at first use, so that a
/// communicator without such calls has no buffer, and again only if a call needs a larger one. Kept in
/// `state<collective_buffer<Net>>()`.
///
/// The buffer has two halves, which successive calls use alternately. A rank that has received its whole
/// result in a call knows that all others have begun that call, and so have finished the previous one. Then
/// this rank and its partners can overwrite the half of the previous call, whose data have all been
/// delivered.
template <keeping_transport Net>
class collective_buffer {
 public:
  /// Begins a call that needs a half of `bytes`. True if the half is large enough, else await `renew`. All
  /// ranks need the same size, and so renew in the same call.
  [[nodiscard]] bool begin(std::size_t bytes) noexcept {
    ++uses_;
    return bytes <= half_bytes_;
  }
  /// Makes halves of at least `bytes`, rounded up but to no more than `limit`. `partners`: all ranks that
  /// this rank exchanges data with, each once; the same in every call.
  task<> renew(Net& net, call_id now, std::size_t bytes, std::size_t limit, std::span<const int> partners) {
    // Puts from the old memory must be flushed; puts into it have already been waited for.
    if (kept_)
      for (const int partner : partners) co_await net.flush(partner, now);
    kept_.reset();
    half_bytes_ = std::max(bytes, std::min(std::bit_ceil(std::max(bytes, least_bytes)), limit));
    kept_.emplace(net.keep(2 * half_bytes_));
    known_.resize(static_cast<std::size_t>(net.size()));
    const remote_region mine = kept_->region();
    for (const int partner : partners) co_await net.send(partner, now, transfer::bytes_of(mine));
    for (const int partner : partners) {
      const auto message = co_await net.receive(partner, now);
      known_[static_cast<std::size_t>(partner)] =
          transfer::read_region(net, partner, now, message, mine.bytes);
    }
  }

  /// This rank's half for this call.
  [[nodiscard]] std::span<std::byte> here() const noexcept {
    return kept_->memory().subspan(offset(), half_bytes_);
  }
  /// The same half of a partner.
  [[nodiscard]] remote_region there(int partner) const noexcept {
    const remote_region& all = known_[static_cast<std::size_t>(partner)];
    return all.part(all.address + offset(), half_bytes_);
  }
  /// The registration, for the source of a put.
  [[nodiscard]] const auto& exposure() const noexcept { return kept_->exposure(); }

 private:
  static constexpr std::size_t least_bytes = 16384;

  [[nodiscard]] std::size_t offset() const noexcept { return uses_ % 2 * half_bytes_; }

  std::optional<kept_memory<Net>> kept_;
  std::size_t half_bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::vector<remote_region> known_;  ///< by rank: its whole buffer
};

}  // namespace chorale::allgather
