// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <fmt/format.h>

#include <chorale/bootstrap/launched.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/uncancellable.hpp>

#include "../core/immortal.hpp"
#include "../core/over_forks.hpp"
#include "../core/printable.hpp"
#include "environment.hpp"

namespace chorale::bootstrap {
namespace {

/// Held while ranks meet.
struct meeting_lock : std::mutex {};

[[gnu::constructor]] void renew_meeting_lock_in_children() {
  detail::of_process<meeting_lock>::handle_forks();
}

bool is_by_tcp() {
  const char* text = std::getenv("CHORALE_BOOTSTRAP");
  const std::string_view word = text == nullptr ? "auto" : text;
  if (word != "auto" && word != "tcp")
    throw error(
        errc::invalid_environment,
        fmt::format("CHORALE_BOOTSTRAP='{}' cannot be used: it accepts auto or tcp", printable(word)));
  return word == "tcp";
}

/// Never destroyed: its connections close when the process ends.
const std::shared_ptr<tcp>& tcp_of_process() {
  static detail::immortal<std::shared_ptr<tcp>> shared;
  const detail::uncancellable ends_first;
  const std::lock_guard<std::mutex> lock{detail::of_process<meeting_lock>::get()};
  if (*shared) return *shared;
  auto met = std::make_shared<tcp>();
  require_expected_ranks(met->size(), errc::bootstrap_failed, met->describe());
  *shared = std::move(met);
  return *shared;
}

}  // namespace

launched::launched() {
  detail::require_same_layouts();
  if (is_by_tcp())
    by_ = tcp_of_process();
  else
    by_ = std::make_shared<pmix>();
}

int launched::rank() const noexcept {
  return std::visit([](const auto& group) { return group->rank(); }, by_);
}
int launched::size() const noexcept {
  return std::visit([](const auto& group) { return group->size(); }, by_);
}
int launched::local_rank() const noexcept {
  return std::visit([](const auto& group) { return group->local_rank(); }, by_);
}
bool launched::singleton() const noexcept {
  return std::visit([](const auto& group) { return is_singleton(*group); }, by_);
}
std::string launched::job() const {
  return std::visit([](const auto& group) { return group->job(); }, by_);
}
std::string launched::describe() const {
  return std::visit([](const auto& group) { return group->describe(); }, by_);
}
cards launched::exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
  return std::visit([&](const auto& group) { return group->exchange(mine, deadline); }, by_);
}

}  // namespace chorale::bootstrap
