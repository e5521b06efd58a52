// SPDX-License-Identifier: Apache-2.0
// Tags computed in another file, and operators shared by both files.
#pragma once

#include <cstdint>

namespace elsewhere {

struct shared {
  int operator()(int a, int b) const { return a + b; }
};
inline auto shared_closure() {
  return [](int a, int b) { return a + b; };
}

// Of an operator in an unnamed namespace and of a closure; each differs from the operator with the same
// spelling here.
std::uint32_t tag_of_combination();
std::uint32_t tag_of_closure();
// Of shared operators.
std::uint32_t tag_of_shared();
std::uint32_t tag_of_shared_closure();
// Of an operator named "combination".
std::uint32_t tag_of_named();

}  // namespace elsewhere
