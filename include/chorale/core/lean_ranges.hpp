// The part of <ranges> that the library uses: the concepts of ranges, and access to their elements.
#pragma once

#include <span>

#include <chorale/core/lean_headers.hpp>

// The views of <ranges> would add 4,000 lines to every program. <span> includes the part needed here anyway.
#if CHORALE_LEAN_HEADERS
#include <bits/ranges_base.h>  // IWYU pragma: export
#else
#include <ranges>  // IWYU pragma: export
#endif
