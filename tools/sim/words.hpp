// A critical path in words.
#pragma once

#include <string>

#include <chorale/simulation/critical_path.hpp>

namespace seeing {

namespace sim = chorale::simulation;

/// The shares of activities on the path, the largest first, and the messages on it in the order of time.
/// `of`: the name of the window. @throws std::logic_error if the parts do not add up to the whole.
std::string in_words(const sim::critical_path& path, const std::string& of);

}  // namespace seeing
