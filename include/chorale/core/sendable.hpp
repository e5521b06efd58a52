// SPDX-License-Identifier: Apache-2.0
// Types that ranks send each other as raw bytes.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace chorale::detail {

/// True if every byte of an object belongs to its value. Padding would leak previous contents of memory to
/// the receiver.
template <class Message>
concept sendable = std::is_trivially_copyable_v<Message> &&
                   (std::is_empty_v<Message> || std::has_unique_object_representations_v<Message>);

/// A message as it is sent; one without members has no bytes. Refers to `message`.
template <sendable Message>
[[nodiscard]] std::span<const std::byte> bytes_of(const Message& message) noexcept {
  if constexpr (std::is_empty_v<Message>)
    return {};
  else
    return std::as_bytes(std::span{&message, 1});
}

}  // namespace chorale::detail
