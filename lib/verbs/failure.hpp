// SPDX-License-Identifier: Apache-2.0
// Errors of the verbs layer: call, object, device and remedy in one text.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <chorale/verbs/driver.hpp>

namespace chorale::verbs {

/// Name of the device a context belongs to; "?" for nullptr.
std::string_view device_name(const ibv_context* context) noexcept;

/// Throws the error of a verbs call, with code `errnum` (EIO if it is 0) and remedy `special`, or else the
/// usual remedy for that errno.
[[noreturn]] void fail(int errnum, std::string_view call, std::string_view object,
                       std::string_view special = {});

/// The remedy if `soft0` cannot be opened or cannot reach a peer, by its errno.
std::string soft_remedy(int errnum);

/// Throws errc::invalid_argument: `call` was made on an object of kind `what` that is closed or was moved
/// from.
[[noreturn]] void fail_closed(std::string_view call, std::string_view what);

/// Waits until `fd` is readable; signals do not end the wait. False if it is not readable within `longest`.
bool wait_readable(int fd, std::chrono::milliseconds longest, std::string_view object);

}  // namespace chorale::verbs
