// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "show.hpp"

namespace status {
namespace {

void print_processes(const job& j, std::size_t most) {
  chorale::say(stdout, "Job of {} process{}:", j.processes.size(), j.processes.size() == 1 ? "" : "es");
  std::size_t shown = 0;
  for (const auto* p : j.processes) {
    if (shown++ == most) break;
    chorale::say(stdout, " {}", p->pid);
  }
  if (j.processes.size() > most) chorale::say(stdout, " ...");
  chorale::say(stdout, " ({})\n", j.processes.front()->name);
  for (const auto* p : j.processes) {
    if (!p->problem.empty()) chorale::say(stdout, "  process {}: {}\n", p->pid, p->problem);
    if (p->unpublished != 0)
      chorale::say(stdout, "  process {}: {} more communicators were made when it had 511\n", p->pid,
                   p->unpublished);
  }
}

std::string list_of(const std::vector<int>& ranks) {
  constexpr std::size_t most = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  if (ranks.size() > most) text += fmt::format(" and {} more", ranks.size() - most);
  return text;
}

void print_communicator(const job& j, const communicator& c, std::size_t most) {
  const std::string name = c.label.empty() ? fmt::format("{:08x}", c.group) : fmt::format("'{}'", c.label);
  chorale::say(stdout, "\n  communicator {}: {} rank{}", name, c.size, c.size == 1 ? "" : "s");
  if (c.hosts > 1)
    chorale::say(stdout, " on {} hosts, {} of them here; run this there to see the others", c.hosts,
                 c.ranks.size());
  chorale::say(stdout, "\n    {:>6} {:>8} {:<9} {:>12}\n", "rank", "pid", "thread", "calls");
  std::size_t shown = 0;
  for (const auto i : c.ranks) {
    if (shown++ == most) break;
    const place& p = j.places[i];
    std::string calls = fmt::format("{}", p.begun);
    if (p.more_calls != 0) calls += fmt::format(" +{}", p.more_calls);
    chorale::say(stdout, "    {:>6} {:>8} {:<9} {:>12}  {}\n", p.rank, p.pid,
                 describe_state(state_of_thread(p.pid, p.thread)), calls, describe(p));
  }
  if (c.ranks.size() > most)
    chorale::say(stdout, "    and {} more ranks; --all shows them\n", c.ranks.size() - most);
  if (!c.gone.empty())
    chorale::say(stdout, "    {:>6} gone: dead, or it has destroyed its communicator\n", list_of(c.gone));
}

/// Draws the waiters of a place below it, each level further indented.
void draw_waiters(const job& j, const graph& g, std::size_t place, std::size_t depth, std::size_t& left,
                  std::set<std::size_t>& drawn) {
  for (const auto i : g.before(place)) {
    // Omits a communicator in which no rank waits and whose thread waits in another.
    if (g.from(i).what == step::kind::waits_other && g.before(i).empty()) continue;
    if (!drawn.insert(i).second) continue;
    if (left == 0) return;
    --left;
    chorale::say(stdout, "    {:{}}<- {} (pid {}) {}\n", "", 2 * depth, name_of(j, i), j.places[i].pid,
                 g.from(i).what == step::kind::waits_other ? "uses the same thread" : describe(j.places[i]));
    draw_waiters(j, g, i, depth + 1, left, drawn);
  }
}

std::string describe_end(const job& j, const graph& g, std::size_t i) {
  const place& p = j.places[i];
  const std::string who = fmt::format("{} (pid {})", name_of(j, i), p.pid);
  switch (g.from(i).what) {
    case step::kind::unseen: {
      bool is_gone = false;
      for (const auto& c : j.communicators)
        if (c.group == p.group) is_gone = std::binary_search(c.gone.begin(), c.gone.end(), p.waits_for);
      return fmt::format("{} {}; rank {} {}", who, describe(p), p.waits_for,
                         is_gone ? "is gone" : "is on another host: look there");
    }
    case step::kind::any:
      return fmt::format("{} {}", who, describe(p));
    default:
      return fmt::format("{} IS LATE: {}", who, describe(p));
  }
}

void print_waits(const job& j, std::size_t most) {
  const graph g{j};
  if (g.cycles().empty() && g.ends().empty()) return;
  chorale::say(stdout, "\n  who waits for whom\n");
  std::set<std::size_t> drawn;
  std::size_t left = most;
  for (const auto& circle : g.cycles()) {
    chorale::say(stdout, "    A CYCLE: each waits for the next, and none goes on\n");
    for (std::size_t k = 0; k < circle.size(); ++k) {
      const auto i = circle[k];
      drawn.insert(i);
      chorale::say(stdout, "      {} {} (pid {}) {}\n", k == 0 ? "  " : "->", name_of(j, i), j.places[i].pid,
                   g.from(i).what == step::kind::waits_other ? "is the same thread, which waits elsewhere"
                                                             : describe(j.places[i]));
    }
    chorale::say(stdout, "      -> {} again\n", name_of(j, circle.front()));
    for (const auto i : circle) draw_waiters(j, g, i, 2, left, drawn);
  }
  for (const auto i : g.ends()) {
    if (!drawn.insert(i).second) continue;
    chorale::say(stdout, "    {}\n", describe_end(j, g, i));
    draw_waiters(j, g, i, 1, left, drawn);
  }
  if (left == 0) chorale::say(stdout, "    and more; --all shows them\n");
}

}  // namespace

void print(const job& j, std::size_t most) {
  print_processes(j, most);
  for (const auto& c : j.communicators) print_communicator(j, c, most);
  print_waits(j, most);
}

}  // namespace status
