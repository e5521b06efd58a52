// Text from outside in messages: what a terminal or a log would take for a command is made visible.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chorale {

/// `text` as it can stand in an error or a log line, whoever wrote it: an environment variable, a file, a
/// peer. Control characters, C1 codes, marks that change the direction of writing and bytes that are no UTF-8
/// become escapes such as `\x1b`; a text of more than `longest` bytes is cut, and says of how many bytes it
/// was.
std::string printable(std::string_view text, std::size_t longest = 512);

}  // namespace chorale
