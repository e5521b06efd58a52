// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <chorale/core/system_services.hpp>

#include "system_files.hpp"

namespace chorale {
namespace {

struct process_status {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start = 0;
};

/// Parses /proc/PID/stat (proc(5)): fields 3, 20 and 22, which follow the name, which may contain anything.
std::optional<process_status> parse(std::string_view text) noexcept {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
  text.remove_prefix(name_end + 2);
  process_status s;
  s.state = text.front();
  constexpr int first = 3;
  for (int field = first; field <= 22; ++field) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    std::uint64_t* place = field == 20 ? &s.threads : field == 22 ? &s.start : nullptr;
    if (place != nullptr && std::from_chars(word.data(), word.data() + word.size(), *place).ec != std::errc{})
      return std::nullopt;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return s;
}

/// Reads the status of a process; on failure returns nothing and sets `failure` to the errno.
std::optional<process_status> read_status(std::int64_t pid, int& failure) noexcept {
  std::array<char, 64> path{};
  // From the entry of its main thread, since QEMU invents the contents of a process's own /proc/PID/stat.
  std::snprintf(path.data(), path.size(), "/proc/%lld/task/%lld/stat", static_cast<long long>(pid),
                static_cast<long long>(pid));
  const detail::unique_fd file = detail::open_of_system(path.data());
  if (file.get() < 0) {
    failure = errno;
    return std::nullopt;
  }
  std::array<char, 1024> text;
  const auto bytes = ::read(file.get(), text.data(), text.size());
  failure = bytes < 0 ? errno : 0;
  if (bytes <= 0) return std::nullopt;
  return parse({text.data(), static_cast<std::size_t>(bytes)});
}

process_state state_of(simulated_process seen) noexcept {
  switch (seen) {
    case simulated_process::running:
      return process_state::running;
    case simulated_process::stopped:
      return process_state::stopped;
    case simulated_process::gone:
      return process_state::gone;
  }
  return process_state::unknown;
}

}  // namespace

process_identity this_process() noexcept {
  process_identity me;
  if (const system_services* const instead = system_services::replaced()) {
    me.pid = instead->process();
    return me;
  }
  std::array<char, 32> link{};
  // If a container sees the /proc of another PID namespace, PIDs there mean other processes.
  if (::readlink("/proc/self", link.data(), link.size() - 1) <= 0 ||
      std::strtoll(link.data(), nullptr, 10) != getpid())
    return me;
  struct stat space {};
  int failure = 0;
  const auto status = read_status(getpid(), failure);
  if (!status || ::stat("/proc/self/ns/pid", &space) != 0) return me;
  me.pid = getpid();
  me.start = status->start;
  me.pid_namespace = space.st_ino;
  return me;
}

bool may_exist(std::int64_t pid) noexcept {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

process_state state_of(const process_identity& process) noexcept {
  if (const system_services* const instead = system_services::replaced())
    return state_of(instead->state_of(process.pid));
  int failure = 0;
  const auto status = read_status(process.pid, failure);
  if (!status)
    return (failure == ENOENT || failure == ESRCH) && !may_exist(process.pid) ? process_state::gone
                                                                              : process_state::unknown;
  if (status->start != process.start) return process_state::gone;
  // A main thread that ended before the others looks like a zombie process.
  if (status->state == 'X' || (status->state == 'Z' && status->threads <= 1)) return process_state::gone;
  return status->state == 'T' || status->state == 't' ? process_state::stopped : process_state::running;
}

}  // namespace chorale
