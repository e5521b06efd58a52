// Whether parts of standard headers may replace the whole headers.
#pragma once

#include <version>

// 1: the headers lean_... include internal headers of libstdc++ and save 20,000 lines in every program. The
// names of those headers are not a public interface, so only releases that were checked are trusted; with any
// other standard library the whole headers are included. Define it as 0 to force that.
#ifndef CHORALE_LEAN_HEADERS
#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 12 && _GLIBCXX_RELEASE <= 14
#define CHORALE_LEAN_HEADERS 1
#else
#define CHORALE_LEAN_HEADERS 0
#endif
#endif
