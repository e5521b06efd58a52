// A simulation as a picture: ranks over time.
#pragma once

#include <cstddef>
#include <string>

#include <chorale/simulation/recorder.hpp>

namespace seeing {

namespace sim = chorale::simulation;

/// More rows cannot be distinguished on a page.
inline constexpr int most_rows = 64;
/// Viewers need seconds for more shapes.
inline constexpr std::size_t most_shapes = 100'000;

/// Draws a row for each rank, with the activity of its processor (and below it, of its helpers), and a line
/// for each message from its first byte on the sender's link to its last byte at the receiver's adapter; for
/// answers, only if they carry data. Precondition: no record of the window is missing.
/// @throws std::system_error naming the file if it cannot be written, std::runtime_error if there is more
/// than can be shown.
void write_timeline(const std::string& file, const sim::recorder& notes, const sim::window& of, int ranks,
                    const std::string& title);

}  // namespace seeing
