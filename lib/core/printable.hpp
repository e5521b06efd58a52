// SPDX-License-Identifier: Apache-2.0
// Untrusted text in messages: makes characters visible that a terminal or log would interpret as commands.
#pragma once

#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/printable_text.hpp>

namespace chorale {
namespace detail {
void say_text(std::FILE* to, std::string_view text) noexcept;
}

/// `text` from any source (environment, file, peer) made safe for an error or a log line. Control characters,
/// C1 codes, bidirectional marks and invalid UTF-8 become escapes such as `\x1b`; a text of more than
/// `longest` bytes is truncated with a note of its length.
std::string printable(std::string_view text, std::size_t longest = 512);

/// As fmt::print, for the library and its tools, but with escapes in place of all control characters except
/// line breaks and tabs. If memory is short, prints a long text without its values.
template <class... Values>
void say(std::FILE* to, fmt::format_string<Values...> format, Values&&... values) noexcept {
  const auto words = static_cast<fmt::string_view>(format);
  try {
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
    detail::say_text(to, {text.data(), text.size()});
  } catch (...) {
    detail::say_text(to, {words.data(), words.size()});
  }
}

}  // namespace chorale
