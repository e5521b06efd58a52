#include "gnuplot.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace bench {
namespace {

using real_time = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{120};

struct closes {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, closes>;

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error("cannot draw: " + why);
}
[[noreturn]] void fail(const char* what, int error) {
  fail(fmt::format("{}: {}", what, std::strerror(error)));
}

file temporary(const std::string& content) {
  file made{std::tmpfile()};
  if (!made) fail("a temporary file", errno);
  if (std::fwrite(content.data(), 1, content.size(), made.get()) != content.size() ||
      std::fflush(made.get()) != 0 || std::fseek(made.get(), 0, SEEK_SET) != 0)
    fail("a temporary file", errno);
  return made;
}

/// A child process, which ends with this object at the latest.
class child {
 public:
  child(int in, int out, int errors) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    // -d: ignores ~/.gnuplot, which is meant for other pictures.
    std::array<char, 8> name{"gnuplot"};
    std::array<char, 3> defaults{"-d"};
    std::array<char*, 3> words{name.data(), defaults.data(), nullptr};
    const int error = posix_spawnp(&pid_, name.data(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return;
    pid_ = 0;
    if (error == ENOENT)
      fail(
          "gnuplot is not installed on this host (on Debian and Ubuntu: apt-get install gnuplot-nox). Or "
          "write "
          "--json FILE here, and where gnuplot is: chorale-bench --from FILE with the same options for "
          "pictures");
    fail("gnuplot does not start", error);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    wait();
  }

  /// @returns the status as of waitpid.
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0) {
      if (errno != EINTR) fail("gnuplot", errno);
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_ = 0;
};

/// Reads until the other end is closed.
std::string read_all(int from) {
  const auto deadline = real_time::now() + patience;
  std::string all;
  std::array<char, 65536> part{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - real_time::now()).count();
    if (left <= 0) fail(fmt::format("gnuplot took more than {} s", patience.count()));
    pollfd one{from, POLLIN, 0};
    const int ready = poll(&one, 1, static_cast<int>(left));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = ready < 0 ? -1 : read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("gnuplot", errno);
    if (got == 0) return all;
    all.append(part.data(), static_cast<std::size_t>(got));
  }
}

std::string text_of(std::FILE* what) {
  std::rewind(what);
  std::array<char, 400> text{};
  std::string said{text.data(), std::fread(text.data(), 1, text.size(), what)};
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
  return said;
}

}  // namespace

std::string gnuplot_string(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,:()<>/-";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f)
      out += ' ';
    else if (byte >= 0x80 || plain.find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("\\{:03o}", byte);
  }
  return out + '"';
}

void need_gnuplot() {
  run_gnuplot("set print '-'\nprint GPVAL_VERSION\n");
}

std::string run_gnuplot(const std::string& commands) {
  const file in = temporary(commands);
  const file errors = temporary("");
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("a pipe", errno);
  const file from{fdopen(ends[0], "r")};
  file to{fdopen(ends[1], "w")};
  child gnuplot{fileno(in.get()), fileno(to.get()), fileno(errors.get())};
  to.reset();
  std::string all = read_all(fileno(from.get()));
  const int status = gnuplot.wait();
  const std::string said = text_of(errors.get());
  if (WIFSIGNALED(status)) fail(fmt::format("gnuplot was ended by signal {}: {}", WTERMSIG(status), said));
  if (WEXITSTATUS(status) != 0)
    fail(fmt::format("gnuplot ended with status {}: {}", WEXITSTATUS(status), said));
  if (all.empty()) fail("gnuplot wrote nothing: " + said);
  return all;
}

}  // namespace bench
