// SPDX-License-Identifier: Apache-2.0
#include "plotter.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace bench {
namespace {

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error("cannot draw: " + why);
}

struct closes {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, closes>;

file temporary(const std::string& content = {}) {
  file made{std::tmpfile()};
  if (!made || std::fwrite(content.data(), 1, content.size(), made.get()) != content.size() ||
      std::fflush(made.get()) != 0 || std::fseek(made.get(), 0, SEEK_SET) != 0)
    fail(fmt::format("a temporary file: {}", std::strerror(errno)));
  return made;
}

std::string text_of(std::FILE* what) {
  std::rewind(what);
  std::string all;
  std::array<char, 65536> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), what)) all.append(part.data(), got);
  return all;
}

/// The chorale-plot beside this program; otherwise its name, to be found in PATH.
std::string program() {
  std::error_code failure;
  auto beside = std::filesystem::read_symlink("/proc/self/exe", failure).replace_filename("chorale-plot");
  return exists(beside, failure) ? beside.string() : "chorale-plot";
}

/// The output of chorale-plot. Needs no time limit, since the programs that chorale-plot runs have one.
std::string output_of(std::string form, std::string option, const std::string& document) {
  const file in = temporary(document);
  const file out = temporary();
  const file errors = temporary();
  std::string name = program();
  std::array<char*, 4> words{name.data(), form.data(), option.empty() ? nullptr : option.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(errors.get()), STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, name.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT)
    fail(
        "chorale-plot is neither beside this program nor in PATH: it comes with Chorale's tools. Or write "
        "JSON here, and draw it where chorale-plot is");
  if (error != 0) fail(fmt::format("{}: {}", name, std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(fmt::format("chorale-plot: {}", std::strerror(errno)));
  }
  std::string said = text_of(errors.get());
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (WIFSIGNALED(status))
    fail(fmt::format("chorale-plot was ended by signal {}: {}", WTERMSIG(status), said));
  if (WEXITSTATUS(status) != 0)
    throw std::runtime_error(
        said.starts_with("chorale-plot: ")
            ? said
            : fmt::format("cannot draw: chorale-plot ended with status {}: {}", WEXITSTATUS(status), said));
  return text_of(out.get());
}

}  // namespace

std::string plotted(const std::string& form, const std::string& document) {
  std::string made = output_of(form, "", document);
  if (made.empty()) fail("chorale-plot wrote nothing");
  return made;
}

void need_plotter(const std::string& form) {
  output_of(form, "--check", "");
}

}  // namespace bench
