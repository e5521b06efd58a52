#include <string>

#include <chorale/calls/window_operand.hpp>
#include <chorale/core/error.hpp>

namespace chorale::calls::window_argument {

void reject_number(const char* what, long long value) {
  throw error(errc::invalid_argument, std::string{"window: "} + what + ": " + std::to_string(value) +
                                          " is no number that an element of the window can hold");
}

}  // namespace chorale::calls::window_argument
