// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace chorale::soft {
namespace {

/// One millisecond: far longer than an adapter needs, but short enough that peers do not give up waiting for
/// a lock.
constexpr std::uint32_t longest_miss_ns = 1'000'000;

/// False if the variable's value is not a number up to `largest`. Unset or empty: `value` is unchanged.
template <class Number>
bool read_number(const char* name, Number& value, Number largest) noexcept {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return true;
  const char* end = text + std::strlen(text);
  Number parsed{};
  const auto [stop, error] = std::from_chars(text, end, parsed);
  if (error != std::errc{} || stop != end || !(parsed >= Number{}) || !(parsed <= largest)) return false;
  value = parsed;
  return true;
}

bool read_percentage(const char* name, probability& value) noexcept {
  double percent = 0;
  if (!read_number(name, percent, 100.0)) return false;
  value = static_cast<probability>(percent / 100 * 4294967296.0);
  return true;
}

}  // namespace

int read_engine_settings(engine_settings& settings) noexcept {
  if (const char* name = std::getenv("CHORALE_SOFT_ENGINE")) {
    const std::string_view text{name};
    if (text == "deferred")
      settings.deferred = true;
    else if (text != "immediate" && !text.empty())
      return EINVAL;
  }
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  if (!read_number("CHORALE_SOFT_SEED", settings.seed, any) ||
      !read_percentage("CHORALE_SOFT_LOSS", settings.loss) ||
      !read_percentage("CHORALE_SOFT_DUPLICATION", settings.duplication) ||
      !read_number("CHORALE_SOFT_CONTEXTS", settings.contexts, 65536U) || settings.contexts == 0 ||
      !read_number("CHORALE_SOFT_CONTEXT_MISS_NS", settings.context_miss_ns, longest_miss_ns))
    return EINVAL;
  settings.counts_contexts = settings.deferred || settings.context_miss_ns != 0;
  // Failures are ignored: under a launcher that does not set this variable, all ranks merely decide alike.
  (void)read_number("PMIX_RANK", settings.rank, any);
  return 0;
}

void settle_order(engine_settings& settings, const verbs::device_profile& profile) noexcept {
  using verbs::placement_order;
  if (profile.placement)
    settings.placed = *profile.placement == placement_order::ordered          ? placement::ordered
                      : *profile.placement == placement_order::within_request ? placement::within_request
                                                                              : placement::unordered;
  else if (settings.deferred && dice{settings, matter::order, 0, 0}.below(2) == 1)
    settings.placed = placement::scattered;
  const bool keeps_bytes =
      settings.placed == placement::ordered || settings.placed == placement::within_request;
  settings.in_order =
      profile.in_order.value_or(keeps_bytes ? verbs::order_answer::whole : verbs::order_answer::none);
  if (settings.in_order != verbs::order_answer::whole || keeps_bytes) return;
  settings.placed = settings.placed == placement::unordered ? placement::within_request : placement::ordered;
}

}  // namespace chorale::soft
