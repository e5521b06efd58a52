// SPDX-License-Identifier: Apache-2.0
// The identity of a collective call: what must be the same on every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <chorale/core/sendable.hpp>

namespace chorale {

/// The collective operations.
enum class operation : std::uint8_t {
  none,            ///< no operation
  barrier,         ///< no data: returns once all ranks have called it
  broadcast,       ///< data of the root to all
  reduce,          ///< a combination of all ranks' data, at the root
  allreduce,       ///< the same, on all ranks
  allgather,       ///< a block of each rank, on all ranks
  allgatherv,      ///< the same with blocks of different sizes
  gather,          ///< a block of each rank, at the root
  gatherv,         ///< the same with blocks of different sizes
  scatter,         ///< a block of the root for each rank
  scatterv,        ///< the same with blocks of different sizes
  alltoall,        ///< a block of each rank for each rank
  alltoallv,       ///< the same with blocks of different sizes
  reduce_scatter,  ///< a combination of all ranks' data, a block of it on each
  scan,            ///< a combination of the data of ranks 0 to this one
  exscan,          ///< a combination of the data of ranks 0 to the one before
  split,           ///< makes communicators of subsets of the ranks
  window,          ///< makes, fences or ends a window
  exchange,        ///< messages between each rank and the peers that it names
};

/// True if a rank knows only the sizes of the blocks that it sends or receives itself. The two ranks of each
/// transfer then compare sizes before any byte is placed (`algorithm/agreed.hpp`). In all other operations
/// every rank knows every size, and the signature covers them.
constexpr bool sizes_are_private(operation what) noexcept {
  return what == operation::gatherv || what == operation::scatterv || what == operation::alltoallv ||
         what == operation::exchange;
}

namespace detail {
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x *= 0xff51afd7ed558ccdULL;
  return x ^ (x >> 29);
}
}  // namespace detail

/// The weight of a rank's bytes in `call::counts`: odd and unrelated to the weights of other ranks, so that
/// weighted sums differ if sizes do, and identify the rank if only one block differs.
constexpr std::uint64_t weight_of(std::uint64_t rank) noexcept {
  return detail::mix(detail::mix(rank + 0x9e3779b97f4a7c15ULL)) | 1;
}

/// The stages in the life of a window at which all ranks synchronise.
enum class window_stage : std::uint64_t {
  make,   ///< construction
  fence,  ///< completion of all puts on all ranks
  end,    ///< destruction
};
/// `call::bytes` of operation::window: the number of the window in its communicator, from 1, and the stage.
constexpr std::uint64_t window_call(std::uint64_t number, window_stage stage) noexcept {
  return number * 4 + static_cast<std::uint64_t>(stage);
}

/// The properties of a rank's call. Calls of the same number on two ranks match only if all fields are equal.
struct call {
  operation what = operation::none;  ///< which operation
  std::uint8_t reserved[3]{};        ///< zero, so that sent objects have no padding
  std::int32_t root = -1;            ///< -1 where the operation has no root
  /// Payload bytes of one rank; of all blocks together if all ranks know the counts; 0 if it may differ
  /// between ranks.
  std::uint64_t bytes = 0;
  /// If all ranks know the counts: the sum of the blocks' bytes, each times `weight_of(rank)`.
  std::uint64_t counts = 0;
  std::uint32_t type = 0;       ///< `type_tag` of the element; 0 where there is none
  std::uint32_t reduction = 0;  ///< `operator_tag`; 0 where nothing is reduced

  friend bool operator==(const call&, const call&) = default;

  /// 32 bits sent with each message, so that a mismatch is detected where it happens, without an extra
  /// message.
  [[nodiscard]] constexpr std::uint32_t signature() const noexcept {
    std::uint64_t h = 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(what) + 1);
    h = detail::mix(h ^ static_cast<std::uint32_t>(root));
    h = detail::mix(h ^ bytes ^ counts * 0x9e3779b97f4a7c15ULL);
    h = detail::mix(h ^ (static_cast<std::uint64_t>(type) << 32 | reduction));
    return static_cast<std::uint32_t>(h ^ (h >> 32));
  }

  /// "allreduce of 16 bytes", "broadcast of 8 bytes from root 2".
  [[nodiscard]] std::string describe() const;
  /// The fields that differ in the other call (operation, root, bytes, counts, type, operator): "root 2
  /// against 0, 8 against 12 bytes".
  [[nodiscard]] std::string difference(const call& other) const;
};
static_assert(detail::sendable<call>);

/// One call of a communicator: its number (from 1, the same on all ranks), signature and operation, and
/// whether this rank's call is nonblocking. An algorithm that runs several others among the same ranks in one
/// call gives each a phase of its own, by which their signals are told apart.
struct call_id {
  std::uint64_t number = 0;          ///< of the call in its communicator, from 1
  std::uint32_t signature = 0;       ///< `call::signature`
  operation what = operation::none;  ///< which operation
  /// The values of the functions below, in one field since a call_id is passed by value with each message.
  /// The phase is in the lowest bits, where signals read it.
  std::uint8_t mode = 0;

  static constexpr int most_phases = 4;  ///< of one call
  /// Nonblocking: it parks where a blocking call would wait.
  [[nodiscard]] constexpr bool parks() const noexcept { return (mode & 4) != 0; }
  /// True if `sizes_are_private`, or if an algorithm with private sizes runs as a part of another one.
  [[nodiscard]] constexpr bool has_private_sizes() const noexcept {
    return sizes_are_private(what) || (mode & 8) != 0;
  }
  /// The phase, below `most_phases`.
  [[nodiscard]] constexpr int phase() const noexcept { return mode % most_phases; }
  /// The same call as a nonblocking one, which parks.
  [[nodiscard]] constexpr call_id parking() const noexcept {
    call_id same = *this;
    same.mode |= 4;
    return same;
  }
  /// The same call with private sizes.
  [[nodiscard]] constexpr call_id with_private_sizes() const noexcept {
    call_id same = *this;
    same.mode |= 8;
    return same;
  }
  /// The same call, `phases` later. @throws error errc::misuse beyond the last phase.
  [[nodiscard]] constexpr call_id later(int phases) const {
    if (phases < 0 || phases >= most_phases - phase()) [[unlikely]]
      throw_no_phase(phase() + phases);
    call_id next = *this;
    next.mode = static_cast<std::uint8_t>(mode + phases);
    return next;
  }

 private:
  [[noreturn]] static void throw_no_phase(int phase);
};

/// @throws error errc::mismatch that names both ranks and both sizes in bytes: rank `to` expects `expected`
/// from rank `from`, which sends `sent`.
[[noreturn]] void throw_unequal_sizes(operation what, int to, std::size_t expected, int from,
                                      std::size_t sent);

const char* name(operation what) noexcept;  ///< "allreduce" for operation::allreduce, and so on.

}  // namespace chorale
