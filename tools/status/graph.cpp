// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace status {
namespace {

/// Disjoint sets of numbers (union-find).
class united {
 public:
  explicit united(std::size_t n) : parents_(n) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) { parents_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parents_;
};

void group_communicators(job& j) {
  std::map<std::uint64_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < j.places.size(); ++i) groups[j.places[i].group].push_back(i);
  for (auto& [group, members] : groups) {
    std::sort(members.begin(), members.end(), [&j](std::size_t a, std::size_t b) {
      return std::pair{j.places[a].rank, a} < std::pair{j.places[b].rank, b};
    });
    communicator c;
    c.group = group;
    std::set<int> missing;
    for (const auto i : members) {
      const place& p = j.places[i];
      c.size = std::max(c.size, p.size);
      c.hosts = std::max(c.hosts, p.hosts);
      if (c.label.empty()) c.label = p.label;
      missing.insert(p.here.begin(), p.here.end());
    }
    for (const auto i : members) missing.erase(j.places[i].rank);
    c.gone.assign(missing.begin(), missing.end());
    c.ranks = std::move(members);
    j.communicators.push_back(std::move(c));
  }
  // By the lowest process, then by address, which is roughly the order of creation.
  std::stable_sort(j.communicators.begin(), j.communicators.end(), [&j](const auto& a, const auto& b) {
    const place& x = j.places[a.ranks.front()];
    const place& y = j.places[b.ranks.front()];
    return std::pair{x.pid, x.slot} < std::pair{y.pid, y.slot};
  });
}

}  // namespace

std::vector<job> jobs_of(const std::vector<process>& all) {
  united sets{all.size()};
  std::map<std::uint64_t, std::size_t> first_of;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& p : all[i].places) {
      const auto [known, is_new] = first_of.emplace(p.group, i);
      if (!is_new) sets.unite(i, known->second);
    }
  std::map<std::size_t, std::size_t> numbers;
  std::vector<job> jobs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [known, is_new] = numbers.emplace(sets.of(i), jobs.size());
    if (is_new) jobs.emplace_back();
    job& j = jobs[known->second];
    j.processes.push_back(&all[i]);
    j.places.insert(j.places.end(), all[i].places.begin(), all[i].places.end());
  }
  for (auto& j : jobs) group_communicators(j);
  return jobs;
}

graph::graph(const job& of) : steps_(of.places.size()), before_(of.places.size()) {
  std::map<std::pair<std::uint64_t, int>, std::size_t> by_rank;
  std::map<std::pair<int, int>, std::size_t> waiting_threads;
  for (std::size_t i = 0; i < of.places.size(); ++i) {
    const place& p = of.places[i];
    by_rank.emplace(std::pair{p.group, p.rank}, i);
    if (p.stands && p.thread != 0) waiting_threads.emplace(std::pair{p.pid, p.thread}, i);
  }
  for (std::size_t i = 0; i < of.places.size(); ++i) {
    const place& p = of.places[i];
    if (p.stands && p.waits_for >= 0) {
      const auto peer = by_rank.find({p.group, p.waits_for});
      if (peer == by_rank.end())
        steps_[i] = {step::kind::unseen, 0};
      else
        steps_[i] = {step::kind::waits, peer->second};
    } else if (p.stands) {
      steps_[i] = {step::kind::any, 0};
    } else if (const auto other = waiting_threads.find({p.pid, p.thread}); other != waiting_threads.end()) {
      steps_[i] = {step::kind::waits_other, other->second};
    }
  }
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (leads_on(i)) before_[steps_[i].next].push_back(i);
  find_cycles();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const bool waits = steps_[i].what != step::kind::late;
    if (!leads_on(i) && (waits || !before_[i].empty())) ends_.push_back(i);
  }
}

void graph::find_cycles() {
  enum class mark { fresh, open, done };
  std::vector<mark> marks(steps_.size(), mark::fresh);
  for (std::size_t start = 0; start < steps_.size(); ++start) {
    std::vector<std::size_t> path;
    std::size_t i = start;
    while (marks[i] == mark::fresh) {
      marks[i] = mark::open;
      path.push_back(i);
      if (!leads_on(i)) break;
      i = steps_[i].next;
    }
    if (marks[i] == mark::open && leads_on(i)) {
      const auto begin = std::find(path.begin(), path.end(), i);
      // A new cycle lies on this path.
      if (begin != path.end()) cycles_.emplace_back(begin, path.end());
    }
    for (const auto one : path) marks[one] = mark::done;
  }
}

std::size_t graph::waiters(std::size_t place) const {
  std::set<std::size_t> all;
  std::vector<std::size_t> open{place};
  while (!open.empty()) {
    const auto i = open.back();
    open.pop_back();
    for (const auto one : before_[i])
      if (all.insert(one).second) open.push_back(one);
  }
  // A communicator that its thread does not use is not itself waiting.
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [this](std::size_t i) { return steps_[i].what != step::kind::waits_other; }));
}

}  // namespace status
