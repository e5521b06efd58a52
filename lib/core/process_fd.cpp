// SPDX-License-Identifier: Apache-2.0
#include "process_fd.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace chorale::detail {
namespace {

constexpr std::size_t bits = 64;
/// A bit for each descriptor that a child closes.
constinit std::array<std::atomic<std::uint64_t>, 65536 / bits> to_close{};

std::atomic<std::uint64_t>* word_of(int fd) noexcept {
  const auto at = static_cast<std::size_t>(fd) / bits;
  return fd >= 0 && at < to_close.size() ? &to_close[at] : nullptr;
}
std::uint64_t bit_of(int fd) noexcept {
  return std::uint64_t{1} << (static_cast<std::size_t>(fd) % bits);
}

void close_in_child() noexcept {
  for (std::size_t at = 0; at < to_close.size(); ++at) {
    std::uint64_t rest = to_close[at].exchange(0, std::memory_order_relaxed);
    for (; rest != 0; rest &= rest - 1)
      ::close(static_cast<int>(at * bits + static_cast<std::size_t>(std::countr_zero(rest))));
  }
}

[[gnu::constructor]] void handle_forks() {
  // If there is no memory for the handler, children keep the descriptors.
  static_cast<void>(pthread_atfork(nullptr, nullptr, close_in_child));
}

}  // namespace

void process_fd::note(int fd) noexcept {
  if (auto* const word = word_of(fd)) word->fetch_or(bit_of(fd), std::memory_order_relaxed);
}

void process_fd::forget(int fd) noexcept {
  if (auto* const word = word_of(fd)) word->fetch_and(~bit_of(fd), std::memory_order_relaxed);
}

}  // namespace chorale::detail
