// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "forms.hpp"

namespace seeing {

void print_links(const sim::run_result& of) {
  auto links = of.links;
  std::stable_sort(links.begin(), links.end(),
                   [](const auto& a, const auto& b) { return a.taken > b.taken; });
  const auto elapsed = static_cast<double>(std::max<std::int64_t>(of.elapsed.count(), 1));
  chorale::say(stdout, "\n# links, in {:.3f} us from the beginning to the end; bytes with headers\n",
               elapsed / 1e6);
  chorale::say(stdout, "{:>14} {:>10} {:>12} {:>7}  {}\n", "bytes", "messages", "taken, us", "load", "link");
  for (const auto& one : links) {
    const auto taken = static_cast<double>(one.taken.count());
    chorale::say(stdout, "{:>14} {:>10} {:>12.3f} {:>6.2f}%  {}\n", one.bytes, one.messages, taken / 1e6,
                 100 * taken / elapsed, one.name);
  }
}

}  // namespace seeing
