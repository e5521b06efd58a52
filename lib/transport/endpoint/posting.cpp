// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <fmt/format.h>

#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/endpoint/posting.hpp>

namespace chorale::transport {

void give_up(endpoint& core, const posted_message& message) noexcept {
  std::exception_ptr why;
  try {
    if (std::uncaught_exceptions() == 0) {
      const bool sends = message.own_side == posted_message::side::send;
      why = std::make_exception_ptr(error(
          errc::misuse,
          fmt::format("rank {} posted a message {} rank {} whose memory ended before the message was over; "
                      "co_await net.{}({}, now) first",
                      core.rank(), sends ? "to" : "from", message.peer, sends ? "sent" : "received",
                      message.peer),
          {core.rank()}));
    }
  } catch (...) {
    // If there is no memory for a text, the call fails with the exception that destroyed the message's
    // memory.
  }
  core.failures().withdraw_after(std::move(why));
}

}  // namespace chorale::transport
