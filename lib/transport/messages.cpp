// What other ranks sent, read with care: a stray or torn message must do no harm.
#include "messages.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <chorale/core/printable.hpp>

namespace chorale::transport {
namespace {

/// No card begins so.
constexpr std::string_view refusal_mark = "chorale refusal ";

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool read_card(std::span<const std::byte> bytes, rank_card& card) noexcept {
  if (bytes.size() != sizeof card) return false;
  std::memcpy(static_cast<void*>(&card), bytes.data(), sizeof card);
  for (const std::span<char> text :
       {std::span<char>{card.transport}, std::span<char>{card.composition}, std::span<char>{card.device},
        std::span<char>{card.host.name}, std::span<char>{card.host.boot}})
    text.back() = '\0';
  return true;
}

std::vector<std::byte> refusal_card(const error& why) {
  constexpr std::size_t most_text = 4096;
  const std::string text = std::string{refusal_mark} + std::string{why.what()}.substr(0, most_text);
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

bool is_refusal(std::span<const std::byte> bytes) noexcept {
  return text_of(bytes).starts_with(refusal_mark);
}

std::optional<std::string> read_refusal(std::span<const std::byte> bytes) {
  if (!is_refusal(bytes)) return std::nullopt;
  return printable(text_of(bytes).substr(refusal_mark.size()), 4096);
}

std::optional<received_datagram> read_datagram(std::span<const std::byte> bytes, std::uint64_t job,
                                               int size) noexcept {
  datagram_header head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto body = bytes.subspan(sizeof head);
  if (head.magic != datagram_header::expected_magic || head.job != job || head.source < 0 ||
      head.source >= size || head.bytes != body.size())
    return std::nullopt;
  return received_datagram{head.source, head.kind, body};
}

std::optional<status_answer> read_answer(std::span<const std::byte> body) noexcept {
  status_answer theirs;
  if (body.size() != sizeof theirs) return std::nullopt;
  std::memcpy(static_cast<void*>(&theirs), body.data(), sizeof theirs);
  return theirs;
}

std::optional<error> read_notice(int from, int size, std::span<const std::byte> body) {
  failure_notice n{};
  if (body.size() < failure_notice::bytes_without_text || body.size() > sizeof n) return std::nullopt;
  std::memcpy(&n, body.data(), body.size());
  n.bytes = std::min(n.bytes, static_cast<std::uint32_t>(body.size() - failure_notice::bytes_without_text));
  n.rank_count = std::clamp(n.rank_count, 0, 8);
  std::vector<int> ranks(n.ranks, n.ranks + n.rank_count);
  std::erase_if(ranks, [size](int rank) { return rank < 0 || rank >= size; });
  return error{static_cast<errc>(n.code),
               fmt::format("rank {} reports: {}", from, printable({n.text, n.bytes}, sizeof n.text)),
               std::move(ranks)};
}

}  // namespace chorale::transport
