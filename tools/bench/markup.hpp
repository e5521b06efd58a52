// Pieces of HTML.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// Text as it may stand anywhere in HTML or XML, attributes included; bytes that no text has become blanks.
std::string escaped(std::string_view text);

/// A picture of gnuplot as an element of a page: without the head of a file, and with names that no other
/// picture of the page has, since all pictures of gnuplot use the same.
std::string inlined(const std::string& svg, const std::string& prefix);

}  // namespace bench
