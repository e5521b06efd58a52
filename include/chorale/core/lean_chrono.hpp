// The part of <chrono> that headers of the library use: durations, clocks and their literals.
#pragma once

#include <chorale/core/lean_headers.hpp>

// Calendars and their formatting, with string streams and locales, would add 4,000 lines to every program.
#if CHORALE_LEAN_HEADERS
#include <bits/chrono.h>  // IWYU pragma: export
#else
#include <chrono>  // IWYU pragma: export
#endif
