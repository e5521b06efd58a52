// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace bench {
namespace {

bool asked_for(const common_options& o, const std::string& operation) {
  return o.operations.empty() ||
         std::find(o.operations.begin(), o.operations.end(), operation) != o.operations.end();
}

}  // namespace

std::vector<row> run_session(const common_options& o, const facts& about, team& all, const field& of,
                             const sample_hooks& hooks) {
  const bool speaks = all.rank() == 0;
  const bool with_floor = static_cast<bool>(hooks.floor);
  std::size_t steps = 0;
  for (const auto& operation : all_operations()) {
    if (asked_for(o, operation)) steps += sizes_of(operation, o.limit).size();
  }
  progress shown{o.progress, !speaks, steps};
  if (speaks) print_preamble(about, o.limit, with_floor);
  std::vector<row> result;
  for (const auto& operation : all_operations()) {
    if (!asked_for(o, operation)) continue;
    const auto contestants = of(operation);
    if (contestants.empty()) continue;
    if (speaks) print_head(operation, with_floor, hooks.check);
    for (const auto bytes : sizes_of(operation, o.limit)) {
      shown.step(bytes == 0 ? operation : fmt::format("{} {} B", operation, bytes));
      const auto rows = measure(contestants, bytes, all, o.limit, hooks);
      shown.finish();
      if (speaks) print_rows(rows);
      result.insert(result.end(), rows.begin(), rows.end());
    }
  }
  return result;
}

}  // namespace bench
