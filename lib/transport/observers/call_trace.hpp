// SPDX-License-Identifier: Apache-2.0
// Records what one rank does in one communicator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/transport/observers/observer.hpp>

#include "trace_file.hpp"
#include "trace_line.hpp"

namespace chorale::transport {

/// Writes calls, waits and events to a file of its own, as a JSON array of trace events for ui.perfetto.dev
/// and chrome://tracing. `chorale-trace` merges the files of all ranks. The file of a killed rank has all its
/// events up to then, but its array is not closed. One thread at a time.
///
/// A rank is shown as a process, named by its number in the first communicator of its thread, and a
/// communicator as a thread of it. Calls, waits and window operations are complete events (X), waits within
/// their call; instantaneous events are instants (i). Nonblocking calls, from start to end, are shown on
/// additional threads, as many as are concurrent, since complete events of one thread must not overlap; the
/// time in which the algorithm ran is shown within each. Asynchronous events (b, e) are no alternative: some
/// versions of Perfetto drop them, or show them apart from their process.
class call_trace final : public observer {
 public:
  /// For a communicator that is about to be introduced; records `most` calls, waits and events of it.
  /// @throws error if the file cannot be created.
  call_trace(const std::string& file, std::size_t most, const observed_communicator& who);

  void on_made(const observed_communicator& who) noexcept override;
  void on_end(const observed_call& call) noexcept override;
  void on_wait(const observed_wait& wait) noexcept override;
  void on_event(const observed_event& event) noexcept override;
  [[nodiscard]] bool wants_all() const noexcept override { return false; }
  void on_passed(const observed_call& last, std::uint64_t calls) noexcept override;
  void on_passed_events(const observed_event& last, std::uint64_t events) noexcept override;
  void on_ended(const observed_communicator& who) noexcept override;

 private:
  /// The constant part of the events of calls that are alike.
  struct kind_of_call {
    std::uint64_t bytes = 0;
    std::int32_t root = -1;
    bool is_nonblocking = false;
    std::string algorithm;
    std::string text;  ///< empty: none yet
  };

  /// Where to write a record about that time; null if there is no room.
  [[nodiscard]] char* place(clock::time_point time) noexcept;
  /// Begins an event on the communicator's row, or on a row of nonblocking calls.
  [[nodiscard]] trace_line begin(char* at, clock::time_point time,
                                 std::optional<std::size_t> row = {}) noexcept;
  void describe(const observed_call& call, trace_line& line) noexcept;
  /// Writes the number of passed calls that no record of a call has stated yet.
  void write_passed() noexcept;
  void write_access(const observed_event& event) noexcept;
  /// `number`: an argument of that name, unless it is 0.
  void write_instant(char* at, clock::time_point time, std::string_view name, std::uint64_t number = 0,
                     std::string_view named = "dropped") noexcept;
  void write_untimed(clock::time_point since, std::string_view what, std::uint64_t number) noexcept;
  [[nodiscard]] std::size_t free_row(clock::time_point begin, clock::time_point end) noexcept;
  /// Names the communicator's row, or one of nonblocking calls. @throws std::bad_alloc
  void name_row(std::optional<std::size_t> row = {});

  std::string file_;
  std::string folder_;
  std::int64_t process_;
  std::optional<trace_file> out_;
  const observed_communicator* who_;
  std::uint64_t room_;  ///< for further records
  std::uint64_t dropped_ = 0;
  call passed_;                       ///< the latest calls that were passed
  std::uint64_t passed_calls_ = 0;    ///< their number, which is not yet written
  clock::time_point passed_since_{};  ///< when they began
  std::string head_;                  ///< of each event of the communicator's row
  trace_times times_;
  std::array<kind_of_call, static_cast<std::size_t>(operation::exchange) + 1> kinds_;  ///< the latest of each
  std::vector<clock::time_point> rows_;  ///< of nonblocking calls: the end of the last one in each
};

}  // namespace chorale::transport
