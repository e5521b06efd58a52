// Codes of errors in messages between ranks.
#pragma once

#include <system_error>

#include <chorale/core/error.hpp>

namespace chorale {

/// What a rank tells others of its error's code: that of an `errc`. An errno of this rank means nothing to
/// them: for them it is a failed verbs call.
[[nodiscard]] int code_to_send(const std::error_code& code) noexcept;
/// The code that another rank has sent; errc::poisoned if there is no such code.
[[nodiscard]] errc code_received(int sent) noexcept;

}  // namespace chorale
