// Of <chrono> what headers of the library use: durations, the clocks and their literals.
#pragma once

// Calendars and their text are 4,000 lines in every program, with streams of strings and locales. GCC 12 was
// the first to set them apart.
#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>  // IWYU pragma: export
#else
#include <chrono>  // IWYU pragma: export
#endif
