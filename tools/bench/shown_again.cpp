// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "files.hpp"
#include "output.hpp"

namespace bench {
namespace {

/// Prints a result as it was printed when it was measured.
void print(const named_result& one) {
  if (!one.name.empty()) chorale::say(stdout, "# {}\n", one.name);
  const auto& rows = one.what.rows;
  const auto has = [&](auto row::*what) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const result_row& r) { return (r.measured.*what).has_value(); });
  };
  const bool with_floor = has(&row::floor);
  limits as_told;
  as_told.back_to_back = is_back_to_back(one.what);
  print_preamble(one.what.about, as_told, with_floor);
  std::string last;
  for (const result_row& r : rows) {
    const std::string head = is_of_set_up(r) ? fmt::format("set-up {}", r.set_up) : r.measured.operation;
    if (head != last) print_head(head, with_floor, has(&row::wrong));
    last = head;
    print_rows({r.measured});
  }
  chorale::say(stdout, "\n");
}

}  // namespace

void show_again(const std::vector<std::string>& from, const std::vector<std::string>& operations,
                const files& f) {
  check_files(f);
  auto all = read_results(from);
  bool any = false;
  for (named_result& one : all) {
    if (!operations.empty())
      std::erase_if(one.what.rows, [&](const result_row& r) {
        return std::find(operations.begin(), operations.end(), r.measured.operation) == operations.end();
      });
    any = any || !one.what.rows.empty();
    print(one);
  }
  if (!any) throw std::runtime_error("no row of these files matches the request");
  write_files(f, all);
}

}  // namespace bench
