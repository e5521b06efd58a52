// Of <ranges> what the library uses: the concepts of ranges, and access to their elements.
#pragma once

#include <span>

#include <chorale/core/lean_headers.hpp>

// The views of <ranges> are 4,000 lines in every program. The part that is included here stands on <span>.
#if CHORALE_LEAN_HEADERS
#include <bits/ranges_base.h>  // IWYU pragma: export
#else
#include <ranges>  // IWYU pragma: export
#endif
