// Untrusted text in messages: makes characters visible that a terminal or log would interpret as commands.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chorale {

/// `text` from any source (environment, file, peer) made safe for an error or a log line. Control characters,
/// C1 codes, bidirectional marks and invalid UTF-8 become escapes such as `\x1b`; a text of more than
/// `longest` bytes is truncated with a note of its length.
std::string printable(std::string_view text, std::size_t longest = 512);

}  // namespace chorale
