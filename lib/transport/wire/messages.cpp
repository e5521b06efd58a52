// SPDX-License-Identifier: Apache-2.0
// Parsing of messages from other ranks: stray or torn messages must do no harm.
#include "messages.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "../../core/printable.hpp"
#include "../../core/sent_code.hpp"

namespace chorale::transport {
std::vector<std::byte> write_notice(const error& why, std::size_t room) {
  failure_notice n{};
  n.code = code_to_send(why.code());
  // The receiver's error appends the category's message again if it has the same category.
  std::string text = why.code().category() == category() ? why.reason() : std::string{why.what()};
  const std::size_t most = std::min(failure_notice::text_bytes, room - failure_notice::bytes_without_text);
  if (text.size() > most) text.replace(most - 3, std::string::npos, "...");
  n.bytes = static_cast<std::uint32_t>(text.copy(n.text, most));
  for (const int r : why.ranks()) {
    if (n.rank_count < 8) n.ranks[n.rank_count++] = r;
  }
  const auto body = wire(n).first(failure_notice::bytes_without_text + n.bytes);
  return {body.begin(), body.end()};
}

std::optional<error> read_notice(int from, int size, std::span<const std::byte> body) {
  failure_notice n{};
  if (body.size() < failure_notice::bytes_without_text || body.size() > sizeof n) return std::nullopt;
  std::memcpy(&n, body.data(), body.size());
  n.bytes = std::min(n.bytes, static_cast<std::uint32_t>(body.size() - failure_notice::bytes_without_text));
  n.rank_count = std::clamp(n.rank_count, 0, 8);
  std::vector<int> ranks(n.ranks, n.ranks + n.rank_count);
  std::erase_if(ranks, [size](int rank) { return rank < 0 || rank >= size; });
  return error{code_received(n.code),
               fmt::format("rank {} reports: {}", from, printable({n.text, n.bytes}, sizeof n.text)),
               std::move(ranks)};
}

}  // namespace chorale::transport
