#!/usr/bin/env python3
"""Checks that include/ and lib/ read time, and give way, only through core/clock.hpp and lib/core/timed_wait.hpp.

Usage: clocks.py ROOT. A simulation in virtual time replaces the clock of a thread: what goes past it would wait for real time,
or hold the only thread. Prints each offence as `file:line: what`; exit status 1 if there is one.
"""
import re

from tree import library, run

READS = (r"(steady|system|high_resolution|utc|tai|file)_clock\b|\bclock_gettime\b|\bgettimeofday\b|\bstd::time\s*\("
         r"|\btime\s*\(\s*(nullptr|NULL|0)\s*\)|\btimespec_get\b|\b\w*rdtscp?\b|\bCLOCK_[A-Z]")
GIVES_WAY = (r"\bthis_thread::(sleep|yield)|\bsched_yield\b|\bpthread_yield\b|\b(clock_)?nanosleep\b|\busleep\s*\(|(?<![\w.>:])(::)?sleep\s*\("
             r"|\b_mm_pause\b|ia32_pause\b|\basm\b.*\b(yield|pause)\b")
TIMED = (r"(\.|->)wait_(for|until)\s*\(|\btry_(lock|acquire)_(for|until)\b|\bepoll_p?wait2?\b|\btimerfd_|\bSO_(RCV|SND)TIMEO\b"
         r"|\bpthread_\w*timed\w*|\bsem_timedwait\b|\bFUTEX_|\bsetitimer\b|(?<![\w.>:])(::)?alarm\s*\("
         r"|#\s*include\s*<(sys/)?(poll|select)\.h>")
RULES = [(re.compile(READS), "reads the time; use chorale::clock::now()"),
         (re.compile(GIVES_WAY), "gives way or sleeps; use clock::give_way(), clock::sleep_for() or backoff of core/clock.hpp"),
         (re.compile(TIMED), "waits for a time; use wait_until or wait_for of lib/core/timed_wait.hpp")]

# Each file that may, and why.
EXEMPT = {
    "include/chorale/core/clock.hpp": "it is where the time comes from",
    "lib/core/clock.cpp": "it is where the time comes from",
    "include/chorale/transport/observers/cycle_clock.hpp": "it reads the counter of cycles, and never where time is replaced",
    "lib/core/timed_wait.hpp": "it is where condition variables are waited for",
    "lib/verbs/failure.cpp": "poll(2) on the file of a device, whose other end is a kernel or another process",
    "lib/soft/service_thread.cpp": "epoll_wait of a thread that the device starts, which no simulation runs",
    "lib/transport/service.cpp": "poll(2) of the service thread on the event pipe of a device",
    "lib/transport/unmap_monitor.cpp": "poll(2) of a thread that reads what the kernel reports of unmapped pages",
    "lib/preload/shared_heap.cpp": "poll(2) on the kernel's file of page faults, in programs that know nothing of Chorale",
}


def offences(root, exempt=None):
    """Every line that goes past the clock, and every exemption that nothing needs, as lines of text."""
    exempt = EXEMPT if exempt is None else exempt
    found = []
    needed = set()
    for file in library(root):
        for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
            code = line.split("//")[0]
            for pattern, why in RULES:
                if not pattern.search(code):
                    continue
                if str(file) in exempt:
                    needed.add(str(file))
                else:
                    found.append(f"{file}:{number}: {why}")
    return found + [f"{file}: is exempt in tests/style/clocks.py and need not be" for file in sorted(set(exempt) - needed)]


if __name__ == "__main__":
    run(offences, library, "files of the library")
