// How the verbs layer fails: call, object, device and remedy in one text.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <chorale/verbs/driver.hpp>

namespace chorale::verbs {

/// Name of the device a context belongs to; "?" for nullptr.
std::string_view device_name(const ibv_context* context) noexcept;

/// Throws the error of a verbs call: `errnum` (EIO if it is 0) as code, `special` or else the usual remedy
/// for that errno.
[[noreturn]] void fail(int errnum, std::string_view call, std::string_view object,
                       std::string_view special = {});

/// What to do where `soft0` cannot be opened or cannot reach a peer, for the errno it gives.
std::string soft_remedy(int errnum);

/// Throws errc::invalid_argument: `call` was made on a `what` that is closed or was moved from.
[[noreturn]] void fail_closed(std::string_view call, std::string_view what);

/// Waits until `fd` is readable, through signals. False when `longest` passed without.
bool wait_readable(int fd, std::chrono::milliseconds longest, std::string_view object);

}  // namespace chorale::verbs
