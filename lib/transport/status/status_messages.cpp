// SPDX-License-Identifier: Apache-2.0
#include "status_messages.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace chorale::transport {

status_answer::status_answer(const status_page& page, std::uint64_t about, clock::time_point now)
    : current(page.current()), completed(page.completed()), number(about) {
  if (const auto c = page.find(about)) {
    known = 1;
    asked = *c;
  }
  if (const auto c = page.find(current)) {
    latest_known = 1;
    latest = *c;
  }
  waits_for = page.waits_for(now);
  if (waits_for != status_page::for_none) waited_ms = page.waited(now).count();
}

farewell::farewell(const status_page& page, bool error) : current(page.current()), by_error(error ? 1 : 0) {
  for (std::size_t back = 0; back < kept && back < current; ++back)
    if (const auto c = page.find(current - back)) calls[(current - back) % kept] = *c;
}

status_answer farewell::about(std::uint64_t number) const noexcept {
  status_answer told;
  told.current = current;
  told.completed = current - std::min(current, by_error);  // an error can end it within its last call
  told.number = number;
  if (number > current || number + kept <= current || calls[number % kept].what == operation::none)
    return told;
  told.known = 1;
  told.asked = calls[number % kept];
  return told;
}

std::optional<std::string> farewell::difference(const farewell& there) const {
  const auto [fewer, more] = std::minmax(current, there.current);
  const std::uint64_t first = more < kept ? 1 : more - kept + 1;
  for (std::uint64_t n = first; n >= first && n <= fewer; ++n) {
    const call& ours = calls[n % kept];
    const call& theirs = there.calls[n % kept];
    if (ours.signature() != theirs.signature())
      return fmt::format("call {} is {} here and {} there ({})", n, ours.describe(), theirs.describe(),
                         ours.difference(theirs));
  }
  if (fewer == more || by_error != 0 || there.by_error != 0) return std::nullopt;
  const farewell& longer = current == more ? *this : there;
  return fmt::format("{} calls were made here and {} there, the last of which is {}", current, there.current,
                     longer.calls[more % kept].describe());
}

}  // namespace chorale::transport
