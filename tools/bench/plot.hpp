// Strips as a picture, by gnuplot: logarithmic axes, time on the left, bandwidth on the right.
#pragma once

#include <string>
#include <vector>

#include "strips.hpp"

namespace bench {

/// The commands that draw the strips one below the other, with lines of text above and below. Curves differ
/// by colour, and in black and white by their points and dashes; bars reach from the 10th to the 90th
/// percentile.
std::string plot_commands(const std::vector<std::string>& above, const std::vector<strip>& strips);

/// The strips as an SVG, in which pointing at a curve shows its name.
/// @throws std::runtime_error as run_gnuplot.
std::string svg_of(const std::vector<std::string>& above, const std::vector<strip>& strips);

/// An SVG of these results. @throws std::runtime_error as run_gnuplot, or if there is nothing to draw.
std::string plot_svg(const std::vector<named_result>& all);

}  // namespace bench
