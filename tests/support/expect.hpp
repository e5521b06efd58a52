// What a rank of a test says instead of an assertion, which is not thread-safe.
#pragma once

#include <stdexcept>
#include <string>

namespace support {

/// @throws std::runtime_error of `what` unless it holds.
inline void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace support
