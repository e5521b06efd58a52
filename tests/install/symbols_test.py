#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no object file of the libraries needs a function that the library must do without.

Usage: symbols_test.py LIBRARY...   Each is in its folder of the build, beside the folder of its object files.

* No destructor is run when the process or a thread ends (lib/core/immortal.hpp). clang warns of such objects (meson.build), but it compiles neither every
  library in CI nor the libraries of most users.
* Nothing depends on the time of day, which may be set back. The source does not show what the headers of the C++ library call: where the C library lacks
  pthread_cond_clockwait, a wait until a time of CLOCK_MONOTONIC is a wait until a time of CLOCK_REALTIME.
"""
import pathlib
import re
import subprocess
import sys

FORBIDDEN = {
    r"__cxa_(thread_)?atexit": "a static object with a destructor, which must be a detail::immortal",
    r"time|gettimeofday|ftime|timespec_get|clock_gettime|_ZNSt6chrono3_V212system_clock3nowEv|pthread_(cond|mutex|rwlock)_timed\w+"
    r"|pthread_timedjoin_np|sem_timedwait|mq_timed\w+": "the time of day, or a wait by it: use core/clock.hpp and lib/core/timed_wait.hpp",
}


def needs(one):
    """What an object file has that it must not have."""
    symbols = subprocess.run(["readelf", "-W", "--syms", one], capture_output=True, text=True, check=True).stdout
    return [f"{one} needs {found.group(1)}: {why}" for names, why in FORBIDDEN.items()
            for found in re.finditer(rf" UND ({names})$", symbols, re.MULTILINE)]


def main():
    checked = 0
    wrong = []
    for library in sys.argv[1:]:
        objects = sorted(pathlib.Path(library + ".p").glob("*.o"))
        checked += len(objects)
        for one in objects:
            wrong += needs(one)
        if not objects:
            wrong.append(f"{library} has no object files in {library}.p")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"none of {checked} object files needs what it must not need")


if __name__ == "__main__":
    main()
