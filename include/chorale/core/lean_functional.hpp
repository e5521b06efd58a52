// Of <functional> what the library uses: std::function, std::reference_wrapper and the function objects.
#pragma once

// The rest of <functional>, searchers with hash tables above all, is 10,000 lines in every program. The parts of
// libstdc++ have had these names since GCC 7.
#if __has_include(<bits/std_function.h>)
#include <bits/refwrap.h>       // IWYU pragma: export
#include <bits/std_function.h>  // IWYU pragma: export
#include <bits/stl_function.h>  // IWYU pragma: export
#else
#include <functional>  // IWYU pragma: export
#endif
