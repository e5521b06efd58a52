// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <chorale/core/elements.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/types.hpp>

namespace chorale::detail {

void check_elements(std::size_t bytes, std::size_t size, std::uint32_t type) {
  if (size == 0)
    throw error(errc::invalid_argument, "elements: the size of one element is 0; it must be at least 1");
  if (bytes % size != 0)
    throw error(
        errc::invalid_argument,
        fmt::format("elements: {} bytes are not a whole number of elements of {} bytes", bytes, size));
  // The tag of a pair gives the sizes of its parts, but not its padding.
  if (type == 0 || type >> 24 == static_cast<std::uint32_t>(type_kind::pair)) return;
  if (type != type_tag_of(static_cast<type_kind>(type >> 24), size))
    throw error(
        errc::invalid_argument,
        fmt::format("elements: the size of one element is {} bytes, which is not that of the type, {}", size,
                    describe_type(type)));
}

std::size_t bytes_of_elements(std::size_t count, std::size_t size) {
  check_elements(0, size);
  if (count > std::numeric_limits<std::size_t>::max() / size)
    throw error(errc::invalid_argument,
                fmt::format("elements: {} elements of {} bytes are more than memory can hold", count, size));
  return count * size;
}

}  // namespace chorale::detail
