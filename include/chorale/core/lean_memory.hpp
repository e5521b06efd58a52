// The part of <memory> that headers of the library use: std::unique_ptr and std::shared_ptr.
#pragma once

#include <chorale/core/lean_headers.hpp>

// The rest of <memory>, parallel algorithms and atomic pointers, would take 2 MB when a program is compiled.
#if CHORALE_LEAN_HEADERS
#include <bits/shared_ptr.h>  // IWYU pragma: export
#include <bits/unique_ptr.h>  // IWYU pragma: export
#else
#include <memory>  // IWYU pragma: export
#endif
