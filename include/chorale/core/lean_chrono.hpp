// Of <chrono> what headers of the library use: durations, the clocks and their literals.
#pragma once

#include <chorale/core/lean_headers.hpp>

// Calendars and their text are 4,000 lines in every program, with streams of strings and locales.
#if CHORALE_LEAN_HEADERS
#include <bits/chrono.h>  // IWYU pragma: export
#else
#include <chrono>  // IWYU pragma: export
#endif
