// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/observers/observed_access.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

namespace chorale::transport {
namespace {

observed_event::kind told(observed_access::kind what) noexcept {
  using kind = observed_access::kind;
  switch (what) {
    case kind::put:
      return observed_event::kind::put;
    case kind::got:
      return observed_event::kind::got;
    case kind::updated:
      return observed_event::kind::updated;
    case kind::flushed:
      return observed_event::kind::flushed;
    case kind::notified:
      return observed_event::kind::notified;
    case kind::awaited:
      break;
  }
  return observed_event::kind::awaited;
}

}  // namespace

void observed_access::begin() noexcept {
  calls_->observed().begin_access({.what = told(what_), .peer = peer_, .text = {}, .bytes = bytes_});
}

void observed_access::tell() const noexcept {
  // A handler of the program may have removed the observer meanwhile.
  if (!calls_->is_observed()) return;
  calls_->observed().end_access({.what = told(what_), .peer = peer_, .text = {}, .bytes = bytes_});
}

}  // namespace chorale::transport
