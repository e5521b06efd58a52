// SPDX-License-Identifier: Apache-2.0
#include "groups.hpp"

#include <algorithm>
#include <cstring>

namespace chorale::simulation::device {

/// The first branch whose host is not lower.
template <class Tree>
auto group_table::find(Tree& branches, const hca& to) noexcept {
  return std::lower_bound(branches.begin(), branches.end(), to.host(),
                          [](const branch& b, int host) { return b.to->host() < host; });
}

bool group_table::attach(const group_name& name, hca& to, std::uint32_t queue_pair) {
  tree& branches = groups_[name];
  auto at = find(branches, to);
  if (at == branches.end() || at->to != &to) at = branches.insert(at, branch{&to, {}});
  if (std::find(at->members.begin(), at->members.end(), queue_pair) != at->members.end()) return false;
  at->members.push_back(queue_pair);
  return true;
}

bool group_table::detach(const group_name& name, hca& to, std::uint32_t queue_pair) noexcept {
  const auto group = groups_.find(name);
  if (group == groups_.end()) return false;
  tree& branches = group->second;
  const auto at = find(branches, to);
  if (at == branches.end() || at->to != &to || std::erase(at->members, queue_pair) == 0) return false;
  if (at->members.empty()) branches.erase(at);
  if (branches.empty()) groups_.erase(group);
  return true;
}

std::vector<std::uint32_t> group_table::members(const address_vector& path, const hca& of) const {
  std::vector<std::uint32_t> all;
  for (const auto& [name, branches] : groups_) {
    if (!fits(name, path)) continue;
    const auto at = find(branches, of);
    if (at != branches.end() && at->to == &of) all.insert(all.end(), at->members.begin(), at->members.end());
  }
  return all;
}

bool group_table::fits(const group_name& name, const address_vector& path) noexcept {
  return path.global ? std::memcmp(name.gid.data(), path.gid.raw, name.gid.size()) == 0
                     : name.lid == path.lid;
}

}  // namespace chorale::simulation::device
