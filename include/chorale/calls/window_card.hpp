// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other when they make a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/core/sendable.hpp>
#include <chorale/transport/windows/remote_card.hpp>

namespace chorale::calls {

/// One rank's part of a window, or why the rank has none.
struct window_card {
  static constexpr std::size_t text_bytes = 184;

  transport::remote_memory_card memory;
  std::uint64_t notifications = 0;
  std::uint32_t type = 0;    ///< `type_tag` of the elements
  std::int32_t failure = 0;  ///< a code of `category()`; 0: none
  char why[text_bytes]{};
};
static_assert(detail::sendable<window_card>);

/// The number of windows of any element type that a communicator has made.
struct windows_made {
  std::uint64_t number = 0;
};

/// Writes the exception being handled into the card of `rank`. @returns the exception as an error that names
/// the rank.
std::exception_ptr note_failure(window_card& mine, int rank) noexcept;
/// @throws error, the same on every rank, if a rank has no part, or its type or number of notifications
/// differs from that of rank 0.
void require_alike(std::span<const window_card> all);
/// The memory that each rank exposes, checked for elements of `element_bytes` and against this rank's card
/// `mine`. @throws error as `require_alike`; errc::mismatch if a rank's description of its memory is not
/// valid.
[[nodiscard]] std::vector<transport::remote_memory_card> memories_of(std::span<const window_card> all,
                                                                     const window_card& mine,
                                                                     std::size_t element_bytes);

}  // namespace chorale::calls
