// SPDX-License-Identifier: Apache-2.0
// Headers that most tests of collectives include, compiled once per program with -Dprecompiled=true.
#include <chorale/chorale.hpp>

#include "cases.hpp"
