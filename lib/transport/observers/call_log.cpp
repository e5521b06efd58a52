// SPDX-License-Identifier: Apache-2.0
#include "call_log.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

/// Shorter waits are part of every call and are not logged.
constexpr clock::duration long_wait = std::chrono::milliseconds{1};

double microseconds(clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string in_words(const observed_call& call) {
  return fmt::format("{}{} (call {})", call.is_nonblocking ? "nonblocking " : "", call.what.describe(),
                     call.number);
}

std::string peer_in_words(int peer) {
  return peer < 0 ? std::string{"any rank"} : fmt::format("rank {}", peer);
}

std::string in_words(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

call_log::call_log(log_level level) noexcept : is_debug_(level == log_level::debug), process_(getpid()) {}

void call_log::say(const observed_communicator& who, std::string_view text) const noexcept {
  if (getpid() != process_) return;
  try {
    const double now = std::chrono::duration<double>(clock::now().time_since_epoch()).count();
    const std::string name = who.name.empty() ? fmt::format("communicator {}", who.number)
                                              : fmt::format("'{}'", printable(who.name));
    chorale::say(stderr, "chorale {:.6f} rank {} of {}, {}: {}\n", now, who.rank, who.size, name, text);
  } catch (...) {
    // A failure to log must not fail the call.
  }
}

void call_log::on_made(const observed_communicator& who) noexcept {
  try {
    say(who, fmt::format("made over {}, device {}, on host {}, place {} of {}, process {}; {}", who.transport,
                         who.device, printable(who.host), who.place, who.places, process_,
                         printable(who.launched)));
  } catch (...) {
  }
}

void call_log::on_ended(const observed_communicator& who) noexcept {
  try {
    say(who, fmt::format("ended after {} calls, of which {} failed", calls_, failures_));
  } catch (...) {
  }
}

void call_log::on_begin(const observed_call& call) noexcept {
  if (!is_debug_) return;
  try {
    say(*call.on, in_words(call) + " begins");
  } catch (...) {
  }
}

void call_log::on_wait(const observed_wait& wait) noexcept {
  if (!is_debug_ || wait.end - wait.begin < long_wait) return;
  try {
    say(*wait.in->on, fmt::format("{} has waited {:.1f} us for {}", in_words(*wait.in),
                                  microseconds(wait.end - wait.begin), peer_in_words(wait.peer)));
  } catch (...) {
  }
}

void call_log::on_passed(const observed_call& /*last*/, std::uint64_t calls) noexcept {
  calls_ += calls;
}

void call_log::on_end(const observed_call& call) noexcept {
  ++calls_;
  failures_ += call.failure ? 1 : 0;
  try {
    if (call.resent != 0)
      say(*call.on, fmt::format("{} messages were sent again by the end of {}", call.resent, in_words(call)));
    if (call.failure)
      say(*call.on, fmt::format("{} has failed: {}", in_words(call), in_words(call.failure)));
    else if (is_debug_)
      say(*call.on,
          fmt::format("{} is over after {:.1f} us, {:.1f} us of it in waits, by {}", in_words(call),
                      microseconds(call.over - call.begun), microseconds(call.waited), call.algorithm));
  } catch (...) {
  }
}

void call_log::on_event(const observed_event& event) noexcept {
  using kind = observed_event::kind;
  try {
    switch (event.what) {
      case kind::connected:
        if (is_debug_) say(*event.on, fmt::format("connected with rank {}", event.peer));
        return;
      case kind::disconnected:
        if (is_debug_) say(*event.on, fmt::format("connection with rank {} closed", event.peer));
        return;
      case kind::chosen:
        // All ranks make the same choice.
        if (is_debug_ || event.on->rank == 0) say(*event.on, fmt::format("chosen: {}", event.text));
        return;
      case kind::put:
        if (is_debug_) say(*event.on, fmt::format("put of {} bytes to rank {}", event.bytes, event.peer));
        return;
      case kind::got:
        if (is_debug_) say(*event.on, fmt::format("get of {} bytes from rank {}", event.bytes, event.peer));
        return;
      case kind::updated:
        if (is_debug_) say(*event.on, fmt::format("update of {} bytes of rank {}", event.bytes, event.peer));
        return;
      case kind::notified:
        if (is_debug_) say(*event.on, fmt::format("notification of rank {}", event.peer));
        return;
      case kind::flushed:
      case kind::awaited:
        if (is_debug_ && event.time - event.begin >= long_wait)
          say(*event.on, fmt::format("a {} has waited {:.1f} us for {}",
                                     event.what == kind::flushed ? "flush" : "wait for notifications",
                                     microseconds(event.time - event.begin), peer_in_words(event.peer)));
        return;
    }
  } catch (...) {
  }
}

}  // namespace chorale::transport
