// Whether parts of standard headers may stand for the whole.
#pragma once

#include <version>

// 1: the headers lean_... include parts of libstdc++ that have headers of their own: 20,000 lines less in
// every program. Their names are not part of any interface, so only the releases that were looked at are
// trusted; of every other standard library the whole headers are included. Define it as 0 to have those here.
#ifndef CHORALE_LEAN_HEADERS
#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 12 && _GLIBCXX_RELEASE <= 14
#define CHORALE_LEAN_HEADERS 1
#else
#define CHORALE_LEAN_HEADERS 0
#endif
#endif
