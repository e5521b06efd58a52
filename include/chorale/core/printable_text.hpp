// SPDX-License-Identifier: Apache-2.0
// Makes untrusted text safe to display.
#pragma once

#include <string>
#include <string_view>

namespace chorale::detail {

/// `text` with escapes such as `\x1b` in place of control characters and invalid UTF-8. Line breaks and tabs
/// stay.
[[nodiscard]] std::string printable_text(std::string_view text);

}  // namespace chorale::detail
