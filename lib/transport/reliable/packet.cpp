// SPDX-License-Identifier: Apache-2.0
#include "packet.hpp"

#include <cstring>

namespace chorale::transport::reliable {
namespace {

/// Extracts a body from the front; false if there are too few bytes.
template <class Body>
bool take(std::span<const std::byte>& rest, Body& body) noexcept {
  if (rest.size() < sizeof body) return false;
  std::memcpy(&body, rest.data(), sizeof body);
  rest = rest.subspan(sizeof body);
  return true;
}

}  // namespace

std::optional<packet> read_packet(std::span<const std::byte> bytes) noexcept {
  packet p;
  if (!take(bytes, p.header) || (p.header.flags & ~known_flags) != 0) return std::nullopt;
  const auto body = [&](auto what) {
    if (!take(bytes, what)) return false;
    p.body = what;
    return true;
  };
  bool good = false;
  bool has_payload = false;
  switch (static_cast<packet_type>(p.header.type)) {
    case packet_type::message:
      good = has_payload = true;
      break;
    case packet_type::put:
      good = has_payload = body(put_body{});
      break;
    case packet_type::read_request:
      good = body(read_body{});
      break;
    case packet_type::read_reply:
      good = has_payload = body(reply_body{});
      break;
    case packet_type::atomic_request: {
      atomic_body a{};
      good = take(bytes, a) && (a.operation == static_cast<std::uint32_t>(atomic_operation::fetch_add) ||
                                a.operation == static_cast<std::uint32_t>(atomic_operation::compare_swap));
      p.body = a;
      break;
    }
    case packet_type::atomic_reply:
      good = body(atomic_reply_body{});
      break;
    case packet_type::refusal:
      good = body(refusal_body{});
      break;
    default:
      good = is_mark(static_cast<packet_type>(p.header.type));
      break;
  }
  if (!good || (!has_payload && !bytes.empty())) return std::nullopt;
  p.payload = bytes;
  return p;
}

const char* describe(refusal_reason reason) noexcept {
  switch (reason) {
    case refusal_reason::key:
      return "nothing is exposed under this key now";
    case refusal_reason::bounds:
      return "it leaves the exposed memory";
    case refusal_reason::rights:
      return "the memory is exposed for reading only";
    case refusal_reason::alignment:
      return "the word is not aligned to 8 bytes";
    case refusal_reason::too_many:
      return "too many reads at once";
  }
  return "for a reason that this version does not know";
}

}  // namespace chorale::transport::reliable
