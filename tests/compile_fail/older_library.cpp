// SPDX-License-Identifier: Apache-2.0
// A standard library that lacks std::atomic_ref, as libc++ 14 does.
// with: -std=c++20
// expect: Chorale needs std::atomic_ref
#include <version>
#undef __cpp_lib_atomic_ref
#include <chorale/chorale.hpp>

int main() {}
