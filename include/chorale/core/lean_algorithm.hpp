// Of <algorithm> what headers of the library use: std::min and std::max of two, std::copy and its like.
#pragma once

#include <chorale/core/lean_headers.hpp>

// The rest of <algorithm>, the parallel algorithms and those of ranges, is 9,000 lines in every program.
#if CHORALE_LEAN_HEADERS
#include <bits/stl_algobase.h>  // IWYU pragma: export
#else
#include <algorithm>  // IWYU pragma: export
#endif
