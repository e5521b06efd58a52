// What most tests of collectives include, compiled once a program with -Dprecompiled=true.
#pragma once

#include <chorale/chorale.hpp>

#include "cases.hpp"
