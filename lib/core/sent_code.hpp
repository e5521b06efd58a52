// SPDX-License-Identifier: Apache-2.0
// Error codes in messages between ranks.
#pragma once

#include <system_error>

#include <chorale/core/error.hpp>

namespace chorale {

/// The code that a rank sends to others for its error: its `errc`, or errc::verbs_failed for an errno, which
/// means nothing on other ranks.
[[nodiscard]] int code_to_send(const std::error_code& code) noexcept;
/// The `errc` that another rank has sent; errc::poisoned if it is not valid.
[[nodiscard]] errc code_received(int sent) noexcept;

}  // namespace chorale
