// A simulation as a picture: ranks over time.
#pragma once

#include <cstddef>
#include <string>

#include <chorale/simulation/recorder.hpp>

namespace seeing {

namespace sim = chorale::simulation;

/// More rows cannot be told apart on a page.
inline constexpr int most_rows = 64;
/// Viewers take seconds for more shapes.
inline constexpr std::size_t most_shapes = 100'000;

/// Draws a row for each rank, with what its processor did (below it what its helpers did), and a line for
/// each message from its first byte on the sender's link to its last byte at the receiver's adapter. Of
/// answers, those that bring data. No record of the window may be missing.
/// @throws std::system_error naming the file if it cannot be written, std::runtime_error if there is more
/// than can be shown.
void write_timeline(const std::string& file, const sim::recorder& notes, const sim::window& of, int ranks,
                    const std::string& title);

}  // namespace seeing
