// SPDX-License-Identifier: Apache-2.0
#include "system_files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "streams_reserved.hpp"

namespace chorale::detail {

unique_fd open_of_system(const char* path, int flags) noexcept {
  return unique_fd{above_streams([&] { return ::open(path, flags | O_CLOEXEC | O_NOCTTY); })};
}

std::string text_of_system(const std::string& path) {
  std::string text;
  const unique_fd file = detail::open_of_system(path.c_str());
  if (file.get() < 0) return text;
  for (;;) {
    char piece[4096];
    const ssize_t got = ::read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
  }
}

std::string word_of_system(const std::string& path) {
  constexpr const char* spaces = " \t\n";
  const std::string text = detail::text_of_system(path);
  const auto begin = std::min(text.find_first_not_of(spaces), text.size());
  return text.substr(begin, text.find_first_of(spaces, begin) - begin);
}

}  // namespace chorale::detail
