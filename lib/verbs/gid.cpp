// SPDX-License-Identifier: Apache-2.0
// Properties of GIDs, for the library and for soft0, which does not use the library.
#include <algorithm>

#include <chorale/verbs/address.hpp>

namespace chorale::verbs {

bool is_ipv4_mapped(const ibv_gid& gid) noexcept {
  return std::all_of(gid.raw, gid.raw + 10, [](std::uint8_t byte) { return byte == 0; }) &&
         gid.raw[10] == 0xff && gid.raw[11] == 0xff;
}

bool is_multicast(const ibv_gid& gid) noexcept {
  return gid.raw[0] == 0xff || (is_ipv4_mapped(gid) && (gid.raw[12] & 0xf0) == 0xe0);
}

bool is_zero(const ibv_gid& gid) noexcept {
  return std::all_of(gid.raw, gid.raw + sizeof gid.raw, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace chorale::verbs
