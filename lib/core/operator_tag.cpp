// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <chorale/core/operator_tag.hpp>

#include "over_forks.hpp"

namespace chorale {
namespace {

constexpr const char* builtin_names[] = {
    "no operator", "sum",         "prod",       "min",         "max",    "logical_and", "logical_or",
    "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "min_at", "max_at"};

// Constant-initialized, since entries of static storage duration are constructed in any order.
constinit std::mutex entries_lock;
constinit detail::operator_entry* entries = nullptr;

[[gnu::constructor]] void hold_entries_over_forks() noexcept {
  detail::hold_over_forks<entries_lock>();
}

}  // namespace

namespace detail {

operator_entry::operator_entry(std::uint32_t tag, std::string_view name, bool given) noexcept
    : tag_(tag), name_(name), given_(given) {
  const std::scoped_lock lock{entries_lock};
  next_ = entries;
  entries = this;
}

operator_entry::~operator_entry() {
  const std::scoped_lock lock{entries_lock};
  for (operator_entry** at = &entries; *at != nullptr; at = &(*at)->next_) {
    if (*at != this) continue;
    *at = next_;
    return;
  }
}

std::string describe_user_operator(std::uint32_t tag) {
  const std::scoped_lock lock{entries_lock};
  for (const operator_entry* entry = entries; entry != nullptr; entry = entry->next_) {
    if (entry->tag_ != tag) continue;
    if (entry->given_) return fmt::format("user operator '{}'", entry->name_);
    return fmt::format("unnamed user operator '{}' (tag {:08x})", entry->name_, tag);
  }
  return fmt::format(
      "user operator that this program does not have (tag {:08x}; ranks that run different "
      "programs give their operators names by chorale::named)",
      tag);
}

}  // namespace detail

std::string describe_operator(std::uint32_t tag) {
  return tag < std::size(builtin_names) ? builtin_names[tag] : detail::describe_user_operator(tag);
}

}  // namespace chorale
