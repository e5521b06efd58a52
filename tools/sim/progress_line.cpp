// SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"

namespace seeing {

progress_line::progress_line(bool wanted)
    : terminal_(isatty(STDERR_FILENO) == 1),
      on_(wanted || terminal_),
      begin_(real_clock::now()),
      printed_(begin_) {}

void progress_line::step(sim::instant now, std::uint64_t events) {
  if (!on_ || real_clock::now() - printed_ < std::chrono::seconds{1}) return;
  print(now, events);
}

void progress_line::finish(sim::instant now, std::uint64_t events) {
  if (!on_) return;
  if (!terminal_) return print(now, events);
  wipe();
}

void progress_line::wipe() {
  if (std::exchange(shown_, false)) std::fputs("\r\033[K", stderr);
}

void progress_line::print(sim::instant now, std::uint64_t events) {
  printed_ = real_clock::now();
  const double seconds = std::max(std::chrono::duration<double>(printed_ - begin_).count(), 1e-9);
  const auto count = static_cast<double>(events);
  const auto text = fmt::format("{:.3f} ms of virtual time, {:.1f} M events, {:.2f} M events/s",
                                static_cast<double>(now.time_since_epoch().count()) / 1e9, count / 1e6,
                                count / 1e6 / seconds);
  // The table's next row is longer and overwrites it.
  if (terminal_) std::fputs("\r\033[K", stderr);
  chorale::say(stderr, "{}", text);
  std::fputs(terminal_ ? "\r" : "\n", stderr);
  std::fflush(stderr);
  shown_ = terminal_;
}

}  // namespace seeing
