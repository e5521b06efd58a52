// The resources of an adapter that a rank takes.
#pragma once

#include <string>
#include <vector>

namespace points {

/// Prints as a table what a rank of each transport takes after alltoalls, measured beside the formula, and by
/// the formula alone for up to 100,000 ranks. The ranks are the processes of the job or, without a launcher,
/// threads, in groups of these sizes.
/// @param json the file to which all memory of a rank is written, too, unless it is empty
/// @throws chorale::error, std::runtime_error if a call fails or has a wrong result
void show_resources(std::vector<int> sizes, const std::string& json);

}  // namespace points
