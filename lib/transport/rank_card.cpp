// Cards and refusals, read with care: whatever the bytes are, they do no harm.
#include "rank_card.hpp"

#include <cstring>
#include <string_view>

#include "../core/printable.hpp"

namespace chorale::transport {
namespace {

/// No card begins so.
constexpr std::string_view refusal_mark = "chorale refusal ";
constexpr std::size_t most_text = 4096;

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<std::byte> write_card(rank_card card, const cpu_mask& cores) {
  std::size_t first = 0;
  std::size_t end = cores.words.size();
  while (first < end && cores.words[first] == 0) ++first;
  while (end > first && cores.words[end - 1] == 0) --end;
  card.first_word = static_cast<std::uint16_t>(first);
  card.words = static_cast<std::uint16_t>(end - first);
  const std::size_t mask = (end - first) * sizeof(std::uint64_t);
  std::vector<std::byte> bytes(sizeof card + mask);
  std::memcpy(bytes.data(), &card, sizeof card);
  if (mask != 0) std::memcpy(bytes.data() + sizeof card, cores.words.data() + first, mask);
  return bytes;
}

std::optional<received_card> read_card(std::span<const std::byte> bytes) noexcept {
  received_card read{};
  if (bytes.size() < sizeof read.card) return std::nullopt;
  std::memcpy(static_cast<void*>(&read.card), bytes.data(), sizeof read.card);
  const auto mask = bytes.subspan(sizeof read.card);
  const std::size_t first = read.card.first_word;
  const std::size_t words = read.card.words;
  if (read.card.version != rank_card::binary_interface || first + words > read.cores.words.size() ||
      mask.size() != words * sizeof(std::uint64_t))
    return std::nullopt;
  if (words != 0) std::memcpy(read.cores.words.data() + first, mask.data(), mask.size());
  return read;
}

std::uint32_t version_of_card(std::span<const std::byte> bytes) noexcept {
  std::uint32_t version = 0;
  if (bytes.size() >= sizeof version) std::memcpy(&version, bytes.data(), sizeof version);
  return version;
}

std::vector<std::byte> refusal_card(const error& why) {
  const std::string text = std::string{refusal_mark} + std::string{why.what()}.substr(0, most_text);
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

bool is_refusal(std::span<const std::byte> bytes) noexcept {
  return text_of(bytes).starts_with(refusal_mark);
}

std::optional<std::string> read_refusal(std::span<const std::byte> bytes) {
  if (!is_refusal(bytes)) return std::nullopt;
  return printable(text_of(bytes).substr(refusal_mark.size()), most_text);
}

}  // namespace chorale::transport
