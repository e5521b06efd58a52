// What most tests of collectives include, compiled once a program with -Dprecompiled=true.
#include <chorale/chorale.hpp>

#include "cases.hpp"
