// SPDX-License-Identifier: Apache-2.0
// Modes of ranks.cpp.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

namespace robustness {

/// A rank that does something unusual to its own process: runs calls on all ranks before and after rank 0,
/// or all ranks, have done `what`; `program` is this program, for further processes. Each rank prints its
/// outcome on one line: "rank R: right", or an error. Returns the exit status.
int run_edge(std::string_view what, const char* program);

/// Begin and end of processes: runs the mode, if it is one of these, and returns true. Throws if anything is
/// wrong.
///   ended-copies     children of fork() end their copies of all that their parents have, in several ways;
///                    a number may follow: of rounds
///   global-split     a global's destructor splits its communicator
///   global-first     a global's destructor makes the first communicator
///   global-second    a global's destructor makes another communicator
///   streams          no descriptor of the library is that of a standard stream
///   signals          signals that the program blocks, now or later, are kept for it
bool run_lifetime(std::string_view mode, int number);

/// Waits for a child that must end soon, and successfully. @throws std::runtime_error otherwise.
void join(pid_t child, const std::string& which);

/// True in a child that has ended all its copies and has nothing left to do.
bool is_ended_child();

}  // namespace robustness
