// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>

#include "immortal.hpp"
#include "printable.hpp"
#include "settings.hpp"

extern char** environ;

namespace chorale {
namespace {

/// Number of insertions, deletions, replacements and swaps of neighbouring characters that turn one text into
/// the other (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

config config::from_environment() {
  detail::require_same_layouts();
  config c;
  for (const setting& s : settings()) {
    const char* text = s.set ? std::getenv(s.variable.c_str()) : nullptr;
    if (text != nullptr && !s.set(c, text))
      throw error(errc::invalid_environment,
                  fmt::format("{}='{}' cannot be used: it accepts {}; correct or unset it", s.variable,
                              printable(text), s.accepts));
  }
  return c;
}

std::uint32_t config::mailbox_blocks(bool copies, int ranks) const noexcept {
  constexpr std::size_t bytes_for_all = std::size_t{4} << 20;
  constexpr std::size_t most = 256;
  if (blocks || !copies) return least_blocks();
  const std::size_t peers = static_cast<std::size_t>(std::max(ranks - 1, 1));
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(bytes_for_all / peers / block_bytes, usual_blocks, most));
}

void config::validate() const {
  for (const setting& s : settings()) {
    if (s.good && !s.good(*this))
      throw error(errc::invalid_argument,
                  fmt::format("config::{} is {}, which is out of range: it accepts {} (as {} does)", s.field,
                              s.show(*this), s.accepts, s.variable));
  }
}

const std::vector<environment_variable>& environment_variables() {
  detail::require_same_layouts();
  static detail::immortal<std::vector<environment_variable>> variables{[] {
    std::vector<environment_variable> all;
    for (const setting& s : settings()) all.push_back({s.variable, s.accepts, s.initially, s.meaning});
    return all;
  }()};
  return *variables;
}

std::vector<std::string> unknown_environment_variables() {
  detail::require_same_layouts();
  std::vector<std::string> unknown;
  const auto& known = environment_variables();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const auto name = text.substr(0, text.find('='));
    if (!name.starts_with("CHORALE_") || name.starts_with("CHORALE_TEST_")) continue;
    if (std::none_of(known.begin(), known.end(),
                     [&](const environment_variable& v) { return v.name == name; }))
      unknown.emplace_back(name);
  }
  return unknown;
}

std::string_view nearest_environment_variable(std::string_view name) {
  constexpr std::string_view prefix = "CHORALE_";
  const auto tail = [&](std::string_view n) { return n.starts_with(prefix) ? n.substr(prefix.size()) : n; };
  const auto own = tail(name);
  std::string_view best;
  std::size_t least = own.size() / 3 + 1;
  for (const environment_variable& known : environment_variables()) {
    const auto other = tail(known.name);
    std::size_t distance = edit_distance(own, other);
    if (own.size() >= 3 && (other.starts_with(own) || other.ends_with(own) || own.ends_with(other)))
      distance = std::min<std::size_t>(distance, 2);
    if (distance < least + (best.empty() ? 1 : 0)) {
      least = distance;
      best = known.name;
    }
  }
  return best;
}

}  // namespace chorale
