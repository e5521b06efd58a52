// gnuplot as a child process: what draws the pictures.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// A string for gnuplot, in which nothing is special: all that may be is given by its number, since gnuplot
/// 5.4 ends a string at some of the quotes that are doubled, and runs what stands between backquotes. Control
/// characters become blanks.
std::string gnuplot_string(std::string_view text);

/// @throws std::runtime_error with the remedy unless there is a gnuplot that runs.
void need_gnuplot();

/// What gnuplot writes to standard output after these commands.
/// @throws std::runtime_error if it is not installed, fails, writes nothing or takes more than two minutes.
std::string run_gnuplot(const std::string& commands);

}  // namespace bench
