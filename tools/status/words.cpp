// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <fmt/format.h>

#include "show.hpp"

namespace status {
namespace {

std::string awaited(int rank) {
  return rank < 0 ? std::string{"any rank"} : fmt::format("rank {}", rank);
}

std::string text_of(std::chrono::nanoseconds time) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(time).count());
}

}  // namespace

std::string name_of(const job& j, std::size_t place) {
  const auto& p = j.places[place];
  if (j.communicators.size() < 2) return fmt::format("rank {}", p.rank);
  for (const auto& c : j.communicators)
    if (c.group == p.group && !c.label.empty()) return fmt::format("rank {} of '{}'", p.rank, c.label);
  return fmt::format("rank {} of {:08x}", p.rank, p.group);
}

std::string describe_call(const place& p) {
  const auto number = p.is_in_call() ? p.ended + 1 : p.begun;
  const auto& call = p.is_in_call() ? p.under_way : p.last;
  return call ? fmt::format("{} (call {})", call->describe(), number) : fmt::format("call {}", number);
}

std::string describe(const place& p) {
  if (p.failure) return fmt::format("has failed: {}", *p.failure);
  if (p.is_torn) return "makes calls too quickly to be read";
  const std::string waits = p.waits_for == for_none
                                ? ""
                                : fmt::format("waits for {} for {}", awaited(p.waits_for), text_of(p.waited));
  if (p.is_in_call()) {
    std::string text = "in " + describe_call(p);
    // A call may wait several times.
    if (p.in_call > p.waited + std::chrono::milliseconds{100})
      text += fmt::format(" for {} at least", text_of(p.in_call));
    if (p.begun > p.ended + 1) text += fmt::format(", {} more begun", p.begun - p.ended - 1);
    return text + ", " + (waits.empty() ? "does not wait" : waits);
  }
  if (!waits.empty()) return fmt::format("{} in an operation of a window, after {}", waits, describe_call(p));
  const std::string absent = p.absent.count() < 0 ? "" : " for " + text_of(p.absent);
  return p.begun == 0 ? fmt::format("in no call{}, and has made none yet", absent)
                      : fmt::format("in no call{}; its last was {}", absent, describe_call(p));
}

const char* describe_state(char state) {
  switch (state) {
    case 'R':
      return "runs";
    case 'S':
    case 'I':
      return "sleeps";
    case 'D':
      return "in kernel";
    case 'T':
    case 't':
      return "STOPPED";
    case 'Z':
    case 'X':
      return "DEAD";
    default:
      return "?";
  }
}

}  // namespace status
