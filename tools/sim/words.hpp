// A critical path in words.
#pragma once

#include <string>

#include <chorale/simulation/critical_path.hpp>

namespace seeing {

namespace sim = chorale::simulation;

/// Shares of what is on it, the largest first, and the messages on it in the order of time. `of` says what it
/// is the path of. @throws std::logic_error if the parts are not the whole.
std::string in_words(const sim::critical_path& path, const std::string& of);

}  // namespace seeing
