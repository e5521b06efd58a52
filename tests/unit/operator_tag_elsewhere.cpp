// SPDX-License-Identifier: Apache-2.0
// Operators whose types a compiler spells like those of operator_tag_test.cpp.
#include "operator_tag_elsewhere.hpp"

#include <cstdint>

#include <chorale/core/named.hpp>
#include <chorale/core/operator_tag.hpp>

namespace {

struct combination {
  int operator()(int a, int b) const { return a * b; }
};
const auto closure = [](int a, int b) { return a * b; };

template <class Op>
std::uint32_t tag_of(const Op&) {
  return chorale::operator_tag<Op>();
}

}  // namespace

namespace elsewhere {

std::uint32_t tag_of_combination() {
  return chorale::operator_tag<combination>();
}
std::uint32_t tag_of_closure() {
  return tag_of(closure);
}
std::uint32_t tag_of_shared() {
  return chorale::operator_tag<shared>();
}
std::uint32_t tag_of_shared_closure() {
  return chorale::operator_tag<decltype(shared_closure())>();
}
std::uint32_t tag_of_named() {
  return chorale::operator_tag<decltype(chorale::named<"combination">(combination{}))>();
}

}  // namespace elsewhere
