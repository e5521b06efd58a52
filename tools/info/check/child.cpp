// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../lib/core/system_files.hpp"

namespace info::check {
namespace {

constexpr std::size_t most_kept = 16384;

[[noreturn]] void become(const std::vector<std::string>& command, const std::vector<std::string>& removed,
                         int out) {
  setpgid(0, 0);
  const auto nothing = chorale::detail::open_of_system("/dev/null");
  dup2(nothing.get(), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  for (const auto& name : removed) unsetenv(name.c_str());
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words.front(), words.data());
  _exit(127);
}

/// Waits for the child to end, until `end`. True if it has ended.
bool reap(pid_t child, std::chrono::steady_clock::time_point end, int& status) {
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return true;
    if (ended < 0 && errno != EINTR) return false;
    if (std::chrono::steady_clock::now() >= end) return false;
    poll(nullptr, 0, 20);
  }
}

}  // namespace

outcome output_of(const std::vector<std::string>& command, const std::vector<std::string>& removed,
                  std::chrono::seconds patience) {
  outcome result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  const pid_t child = fork();
  if (child == 0) become(command, removed, ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return result;
  }
  setpgid(child, child);
  const auto end = std::chrono::steady_clock::now() + patience;
  int status = 0;
  bool reaped = false;
  for (bool open = true; open;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd readable{ends[0], POLLIN, 0};
    if (left <= 0) break;
    if (poll(&readable, 1, static_cast<int>(std::min<long long>(left, 200))) > 0) {
      std::array<char, 4096> part;
      const auto got = read(ends[0], part.data(), part.size());
      open = got > 0;
      if (got > 0 && result.output.size() < most_kept)
        result.output.append(part.data(), static_cast<std::size_t>(got));
    } else if (!reaped && (reaped = reap(child, std::chrono::steady_clock::time_point{}, status))) {
      // A daemon started by the child may keep the pipe open.
      open = poll(&readable, 1, 200) > 0;
    }
  }
  close(ends[0]);
  result.ended = reaped || reap(child, end, status);
  if (!result.ended) {
    kill(-child, SIGTERM);
    if (!reap(child, std::chrono::steady_clock::now() + std::chrono::seconds{5}, status)) {
      kill(-child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
    }
  } else if (WIFEXITED(status)) {
    result.status = WEXITSTATUS(status);
  }
  return result;
}

std::string on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (true) {
    const auto end = rest.find(':');
    const std::string folder{rest.substr(0, end)};
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
}

}  // namespace info::check
