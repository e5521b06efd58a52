// SPDX-License-Identifier: Apache-2.0
#include "printable.hpp"

#include <cstdint>

namespace chorale {
namespace {

struct character {
  std::uint32_t code;
  std::size_t bytes;  ///< 0: invalid UTF-8
};

/// Decodes the first character of a nonempty text (RFC 3629: shortest forms, no surrogates).
character first_of(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {0, 0};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t least[]{0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {0, 0};
  return {code, bytes};
}

/// Characters that control the output instead of being part of it.
bool is_command(std::uint32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/// Appends the first `longest` bytes of a text, up to the end of a character. @returns the number of bytes
template <class Keep>
std::size_t append_visibly(std::string& shown, std::string_view text, std::size_t longest, Keep keeps) {
  shown.reserve(text.substr(0, longest).size());
  std::size_t at = 0;
  while (at < text.size() && at < longest) {
    const auto [code, bytes] = first_of(text.substr(at));
    if (bytes != 0 && (!is_command(code) || keeps(code))) {
      shown += text.substr(at, bytes);
      at += bytes;
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
    }
  }
  return at;
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown;
  if (append_visibly(shown, text, longest, [](std::uint32_t) { return false; }) < text.size())
    shown += fmt::format("... ({} bytes)", text.size());
  return shown;
}

std::string detail::printable_text(std::string_view text) {
  std::string shown;
  append_visibly(shown, text, text.size(), [](std::uint32_t code) { return code == '\n' || code == '\t'; });
  return shown;
}

void detail::say_text(std::FILE* to, std::string_view text) noexcept {
  try {
    const std::string shown = printable_text(text);
    std::fwrite(shown.data(), 1, shown.size(), to);
  } catch (...) {
    // Without memory: print only characters that are harmless in any encoding.
    for (const char c : text)
      if (c == '\n' || (c >= ' ' && c <= '~')) std::fputc(c, to);
  }
}

}  // namespace chorale
