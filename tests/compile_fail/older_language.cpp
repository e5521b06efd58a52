// SPDX-License-Identifier: Apache-2.0
// A program that is compiled for an older C++, as compilers do unless they are told otherwise.
// with: -std=c++17
// expect: Chorale needs C++20: compile with -std=c++20
#include <chorale/chorale.hpp>

int main() {}
