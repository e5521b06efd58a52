// SPDX-License-Identifier: Apache-2.0
// The floor: the time of a flag in shared memory from rank 0 to rank 1, a lower bound for any message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <chorale/communicator.hpp>

namespace bench {

/// Two cache lines that ranks 0 and 1 both map; each rank writes its own and polls the other's.
class flag_floor {
 public:
  /// Collective. Rank 0 makes the memory (a memfd) and sends its location through `comm`; rank 1 opens it
  /// through /proc. If it cannot be shared, `available()` is false and `reason()` says why, on every rank.
  explicit flag_floor(chorale::communicator<>& comm);
  ~flag_floor();
  flag_floor(const flag_floor&) = delete;
  flag_floor& operator=(const flag_floor&) = delete;

  [[nodiscard]] bool available() const noexcept { return reason_.empty(); }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  /// `rounds` round trips between ranks 0 and 1; other ranks return at once. @returns seconds of one way on
  /// ranks 0 and 1, else 0. @throws chorale::error errc::deadline if the other rank does not answer.
  double run(int rounds);

 private:
  struct alignas(128) line {
    std::atomic<std::uint64_t> flag;
  };
  struct page {
    line lines[2];
    std::uint64_t token;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  void await(const std::atomic<std::uint64_t>& flag, std::uint64_t value) const;

  int rank_;
  bool yield_;
  page* shared_ = nullptr;
  std::uint64_t round_ = 0;
  std::string reason_;
};

}  // namespace bench
