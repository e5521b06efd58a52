// gnuplot as a child process, which draws the pictures.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// A string literal for gnuplot. Characters that may be special are written as octal numbers, since gnuplot
/// 5.4 ends a string at some doubled quotes and executes text between backquotes. Control characters become
/// blanks.
std::string gnuplot_string(std::string_view text);

/// @throws std::runtime_error with the remedy unless there is a gnuplot that runs.
void need_gnuplot();

/// The standard output of gnuplot for these commands.
/// @throws std::runtime_error if it is not installed, fails, writes nothing or takes more than two minutes.
std::string run_gnuplot(const std::string& commands);

}  // namespace bench
