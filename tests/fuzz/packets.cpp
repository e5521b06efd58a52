// SPDX-License-Identifier: Apache-2.0
// Packets of reliable streams, and the accesses to exposed memory that they request.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <variant>

#include "../../lib/transport/reliable/exposures.hpp"
#include "../../lib/transport/reliable/packet.hpp"
#include "../../lib/transport/reliable/receive_window.hpp"

using namespace chorale::transport;
using namespace chorale::transport::reliable;

namespace {

void must(bool good) {
  if (!good) std::abort();
}

std::array<std::byte, 256> memory{};
constexpr std::uint32_t key = 1;

/// The address in the test's memory, which no input can know: the addresses of inputs are relative to it.
std::uint64_t place(std::uint64_t address) {
  return reinterpret_cast<std::uintptr_t>(memory.data()) + address;
}

void read_one(std::span<const std::byte> bytes) {
  const auto p = read_packet(bytes);
  if (!p) return;
  must(p->payload.size() <= bytes.size());
  must(p->payload.empty() || (p->payload.data() >= bytes.data() &&
                              p->payload.data() + p->payload.size() <= bytes.data() + bytes.size()));
  exposures table{7};
  table.add_as(key, std::span{memory}.first(100), true);
  table.add_as(key, std::span{memory}.subspan(128, 64), false);
  if (const auto* put = std::get_if<put_body>(&p->body)) {
    // An access that the check allows must be possible: otherwise the sanitizer reports it.
    if (!table.check(put->key, place(put->address), p->payload.size(), true) && !p->payload.empty())
      std::memcpy(memory.data() + put->address, p->payload.data(), p->payload.size());
  } else if (const auto* read = std::get_if<read_body>(&p->body)) {
    if (!table.check(read->key, place(read->address), read->bytes, false)) {
      must(read->bytes <= 100);
      std::array<std::byte, 256> copy;
      std::memcpy(copy.data(), memory.data() + read->address, read->bytes);
    }
  } else if (const auto* refused = std::get_if<refusal_body>(&p->body)) {
    must(std::strlen(describe(static_cast<refusal_reason>(refused->reason))) > 0);
  }
}

/// Sequence numbers as a stream may receive them: each is delivered once, in order.
void follow_numbers(std::span<const std::byte> bytes) {
  packet_pool pool{64, 20};
  receive_window in{pool};
  std::uint32_t delivered = 0;
  for (const std::byte b : bytes) {
    const sequence number = in.expected() + static_cast<std::uint32_t>(b) - 100;
    switch (in.judge(number)) {
      case receive_window::verdict::early: {
        const bool room = pool.has_room();
        must(in.keep(number, bytes.first(bytes.size() < 64 ? bytes.size() : 64)) == room);
        break;
      }
      case receive_window::verdict::expected: {
        ++delivered;
        bool more = in.advance();
        while (more) {
          must(in.kept_one() != nullptr);
          in.drop_kept();
          ++delivered;
          more = in.advance();
        }
        break;
      }
      default:
        break;
    }
    must(in.expected() == first_sequence + delivered);
    must(pool.in_use() == static_cast<std::size_t>(__builtin_popcountll(in.held())));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  read_one(bytes);
  follow_numbers(bytes);
  return 0;
}
