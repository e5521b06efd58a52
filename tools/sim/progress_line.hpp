// SPDX-License-Identifier: Apache-2.0
// The progress of a simulation, on standard error.
#pragma once

#include <chrono>
#include <cstdint>

#include <chorale/simulation/time.hpp>

namespace seeing {

namespace sim = chorale::simulation;

/// "1.250 ms of virtual time, 3.2 M events, 1.1 M events/s", at most once a second; on a terminal, a line
/// that later output overwrites.
class progress_line {
 public:
  /// `wanted`: print even if standard error is not a terminal.
  explicit progress_line(bool wanted);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { wipe(); }

  /// Whether progress is printed.
  [[nodiscard]] bool is_on() const noexcept { return on_; }
  void step(sim::instant now, std::uint64_t events);
  /// The simulation has ended: prints a last line, or erases the line on a terminal.
  void finish(sim::instant now, std::uint64_t events);

 private:
  using real_clock = std::chrono::steady_clock;
  void print(sim::instant now, std::uint64_t events);
  /// Erases the line, so that other output begins a new line.
  void wipe();

  bool terminal_;
  bool on_;
  real_clock::time_point begin_;
  real_clock::time_point printed_;
  bool shown_ = false;  ///< there is a line on the terminal
};

}  // namespace seeing
