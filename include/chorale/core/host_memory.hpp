// SPDX-License-Identifier: Apache-2.0
// Whether this process can use memory: pointers to the memory of a GPU look like any other.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace chorale::detail {

/// Whether this process can read all pages of `memory` or, of more than 256, the last and others at equal
/// distances, 128 to 256 in all. Changes nothing. Cost: a system call for each page examined.
[[nodiscard]] bool can_read(std::span<const std::byte> memory) noexcept;
/// Whether it can write them. Atomically adds zero to a word of each.
[[nodiscard]] bool can_write(std::span<const std::byte> memory) noexcept;
/// The error about memory that this process cannot read (`is_written`: write), with the remedy.
[[nodiscard]] std::string fault_of_memory(std::span<const std::byte> memory, bool is_written);
/// @throws error errc::invalid_argument, with that text, unless this process can read it.
void require_readable(std::span<const std::byte> memory);

}  // namespace chorale::detail
