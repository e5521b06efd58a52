// Text from outside as people may see it.
#pragma once

#include <string>
#include <string_view>

namespace chorale::detail {

/// `text` with escapes such as `\x1b` for what a terminal would obey, and for bytes that are no UTF-8. Line
/// breaks and tabs stay.
[[nodiscard]] std::string printable_text(std::string_view text);

}  // namespace chorale::detail
