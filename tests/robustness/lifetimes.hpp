// Begin and end of processes: modes of ranks.cpp.
#pragma once

#include <string_view>

namespace robustness {

/// Runs the mode, if it is one of these, and returns true. Throws if anything is wrong.
///   ended-copies     children of fork() end their copies of all that their parents have, in several ways;
///                    a number may follow: of rounds
///   global-split     a global's destructor splits its communicator
///   global-first     a global's destructor makes the first communicator
///   global-second    a global's destructor makes another communicator
///   streams          no descriptor of the library is that of a standard stream
///   signals          signals that the program blocks, now or later, are kept for it
bool run_lifetime(std::string_view mode, int number);

/// True in a child that has ended all its copies and has nothing left to do.
bool is_ended_child();

}  // namespace robustness
