// Pieces of HTML.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// Escapes text for HTML or XML, including attributes; control characters become blanks.
std::string escaped(std::string_view text);

/// A picture of gnuplot as an element of a page: without a file header, and with element names made unique by
/// `prefix`, since all pictures of gnuplot use the same names.
std::string inlined(const std::string& svg, const std::string& prefix);

}  // namespace bench
