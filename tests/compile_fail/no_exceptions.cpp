// SPDX-License-Identifier: Apache-2.0
// A program that is compiled without exceptions.
// with: -fno-exceptions
// expect: Chorale reports errors by exceptions: compile without -fno-exceptions
#include <chorale/chorale.hpp>

int main() {}
