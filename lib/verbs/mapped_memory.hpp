// What a kernel would find out about memory that is to be registered: for the providers that have none.
#pragma once

#include <cstdint>

namespace chorale::verbs {

/// Whether all pages of `bytes` from `address` on are there. `bytes` is not 0.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) noexcept;
/// False if the page of the first or of the last byte cannot be written. Kernels before 5.14 cannot say: then
/// true.
bool are_writable(std::uint64_t first, std::uint64_t last) noexcept;

}  // namespace chorale::verbs
