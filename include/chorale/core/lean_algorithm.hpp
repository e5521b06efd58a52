// The part of <algorithm> that headers of the library use: std::min and std::max of two, std::copy and the
// like.
#pragma once

#include <chorale/core/lean_headers.hpp>

// The rest of <algorithm>, parallel and range algorithms, would add 9,000 lines to every program.
#if CHORALE_LEAN_HEADERS
#include <bits/stl_algobase.h>  // IWYU pragma: export
#else
#include <algorithm>  // IWYU pragma: export
#endif
