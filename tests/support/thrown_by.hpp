// The error text of a call.
#pragma once

#include <exception>
#include <string>

namespace support {

/// @returns the message of the exception that `f` throws, or "nothing".
template <class F>
std::string thrown_by(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace support
