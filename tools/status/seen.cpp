// SPDX-License-Identifier: Apache-2.0
#include "seen.hpp"

#include <algorithm>
#include <charconv>
#include <dirent.h>
#include <memory>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "../../lib/core/system_files.hpp"

namespace status {
namespace {

/// Name, state and parent of a process or thread, from its stat file (proc(5)).
bool read_stat(const std::string& path, identity& to) {
  const std::string text = chorale::detail::text_of_system(path);
  const auto begin = text.find('(');
  const auto end = text.rfind(')');  // the name may contain any character
  if (begin == std::string::npos || end == std::string::npos || end + 4 >= text.size()) return false;
  to.name = chorale::printable(text.substr(begin + 1, end - begin - 1));
  to.state = text[end + 2];
  const char* number = text.data() + end + 4;
  std::from_chars(number, text.data() + text.size(), to.parent);
  return true;
}

/// Determines the changes between two looks at the same place.
void compare(const place& before, place& now) {
  now.more_calls = now.begun > before.begun ? now.begun - before.begun : 0;
  now.stands = now.waits_for != for_none && before.waits_for == now.waits_for && before.begun == now.begun &&
               before.ended == now.ended && now.waited > before.waited && !now.is_torn;
}

}  // namespace

std::optional<identity> identify(int pid) {
  identity found;
  found.pid = pid;
  struct stat folder {};
  if (stat(fmt::format("/proc/{}", pid).c_str(), &folder) != 0 ||
      !read_stat(fmt::format("/proc/{}/stat", pid), found))
    return std::nullopt;
  found.user = folder.st_uid;
  return found;
}

char state_of_thread(int pid, int thread) {
  identity found;
  read_stat(fmt::format("/proc/{}/task/{}/stat", pid, thread), found);
  return found.state;
}

std::vector<process> look() {
  std::vector<process> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries{opendir("/proc"), closedir};
  if (!entries) return all;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string name = entry->d_name;
    int pid = 0;
    const auto [stop, status] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (status != std::errc{} || stop != name.data() + name.size()) continue;
    const auto who = identify(pid);
    if (!who || who->user != geteuid()) continue;
    process one;
    one.pid = pid;
    one.name = who->name;
    read_places(one);
    if (!one.places.empty() || !one.problem.empty() || one.unpublished != 0) all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(), [](const process& a, const process& b) { return a.pid < b.pid; });
  return all;
}

std::vector<process> look_twice(std::chrono::milliseconds between) {
  const auto first = look();
  std::this_thread::sleep_for(between);
  auto second = look();
  for (auto& now : second) {
    const auto before =
        std::find_if(first.begin(), first.end(), [&](const process& p) { return p.pid == now.pid; });
    if (before == first.end()) continue;
    for (auto& p : now.places) {
      const auto same = std::find_if(before->places.begin(), before->places.end(), [&](const place& o) {
        return o.slot == p.slot && o.group == p.group && o.rank == p.rank;
      });
      if (same != before->places.end()) compare(*same, p);
    }
  }
  return second;
}

}  // namespace status
