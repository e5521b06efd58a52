// Replaces assertions of the test framework, which are not thread-safe, on the ranks of a test.
#pragma once

#include <stdexcept>
#include <string>

namespace support {

/// @throws std::runtime_error with `what` unless `holds`.
inline void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace support
