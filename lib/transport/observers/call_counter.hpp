// SPDX-License-Identifier: Apache-2.0
// Counts the calls of one communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <chorale/transport/observers/call_statistics.hpp>
#include <chorale/transport/observers/observer.hpp>

namespace chorale::transport {

/// Counts a communicator's calls, and writes the statistics, as `config::statistics` says, when the
/// communicator ends. One thread at a time.
class call_counter final : public observer {
 public:
  /// Writes to the file `to`; without one, rank 0 writes a table to standard error.
  explicit call_counter(std::optional<std::string> to);

  [[nodiscard]] const call_statistics& counted() const noexcept { return counted_; }

  void on_made(const observed_communicator& who) noexcept override;
  void on_end(const observed_call& call) noexcept override;
  [[nodiscard]] bool wants_all() const noexcept override { return false; }
  void on_passed(const observed_call& last, std::uint64_t calls) noexcept override;
  void on_ended(const observed_communicator& who) noexcept override;

 private:
  [[nodiscard]] call_statistics::row& find(const observed_call& call) noexcept;
  [[nodiscard]] call_statistics::row& unknown() noexcept;
  void add(const observed_call& call, std::uint64_t times) noexcept;
  void write(const observed_communicator& who) const;

  std::optional<std::string> to_;
  std::int64_t process_;  ///< a child of fork() writes nothing
  call_statistics counted_;
  std::size_t last_ = 0;  ///< row of the last call: often also that of the next
};

}  // namespace chorale::transport
