#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the library and its programs use Chorale's own functions for time, descriptors, files, output and the bytes of messages.

Usage: own_functions.py ROOT. RULES lists what each rule forbids, what to use instead, and each exempt file, with the reason. Prints each offence as
`file:line: what: why`, and each exemption that is not needed; exit status 1 if there is one.
"""
import re
import typing

from tree import run, sources


class Rule(typing.NamedTuple):
    where: str        # the files it applies to, by the beginnings of their names
    forbidden: dict   # {regular expression: why, and what to use}
    exempt: dict      # {file: why it is exempt}
    within: str = ""  # functions whose arguments are exempt


OPENS = r"(?<![\w.>:])(?:::)?"
RULES = [
    # A simulation in virtual time replaces a thread's clock: other functions would wait for real time, or block the only thread.
    Rule("include|lib", {
        r"(steady|system|high_resolution|utc|tai|file)_clock\b|\bclock_gettime\b|\bgettimeofday\b|\bstd::time\s*\("
        r"|\btime\s*\(\s*(nullptr|NULL|0)\s*\)|\btimespec_get\b|\b\w*rdtscp?\b|\bCLOCK_[A-Z]":
            "reads the time; use chorale::clock::now()",
        r"\bthis_thread::(sleep|yield)|\bsched_yield\b|\bpthread_yield\b|\b(clock_)?nanosleep\b|\busleep\s*\(|(?<![\w.>:])(::)?sleep\s*\("
        r"|\b_mm_pause\b|ia32_pause\b|\basm\b.*\b(yield|pause)\b":
            "gives way or sleeps; use clock::give_way(), clock::sleep_for() or backoff of core/clock.hpp",
        r"(\.|->)wait_(for|until)\s*\(|\btry_(lock|acquire)_(for|until)\b|\bepoll_p?wait2?\b|\btimerfd_|\bSO_(RCV|SND)TIMEO\b"
        r"|\bpthread_\w*timed\w*|\bsem_timedwait\b|\bFUTEX_|\bsetitimer\b|(?<![\w.>:])(::)?alarm\s*\("
        r"|#\s*include\s*<(sys/)?(poll|select)\.h>":
            "waits for a time; use wait_until or wait_for of lib/core/timed_wait.hpp",
    }, {
        "include/chorale/core/clock.hpp": "it is where the time comes from",
        "lib/core/clock.cpp": "it is where the time comes from",
        "include/chorale/transport/observers/cycle_clock.hpp": "it reads the counter of cycles, and never where time is replaced",
        "lib/core/timed_wait.hpp": "it is where condition variables are waited for",
        "lib/core/progress_alarm.hpp": "a timer in the event loop of a program, which no simulation has",
        "lib/core/host_memory.cpp": "futexes that it never waits for: the kernel only touches their memory",
        "lib/verbs/failure.cpp": "poll(2) on the file of a device, whose other end is a kernel or another process",
        "lib/bootstrap/tcp_sockets.cpp": "poll(2) on sockets, whose other ends are other processes",
        "lib/soft/service_thread.cpp": "epoll_wait of a thread that the device starts, which no simulation runs",
        "lib/transport/wire/service.cpp": "poll(2) of the service thread on the event pipe of a device",
        "lib/transport/memory/unmap_monitor.cpp": "poll(2) of a thread that reads what the kernel reports of unmapped pages",
        "lib/preload/shared_heap.cpp": "poll(2) on the kernel's file of page faults, in programs that know nothing of Chorale",
    }),
    # A descriptor opened by other means may become a standard stream of a program that runs without one, and receive
    # its output.
    Rule("lib", {
        OPENS + r"(?:(?:open|openat)\s*\([^;]*?\bO_[A-Z]+"
        r"|(?:creat|pipe2?|socket|socketpair|accept4?|dup[23]?|memfd_create|eventfd|epoll_create1?|signalfd|timerfd_create"
        r"|inotify_init1?|std::fopen|fopen|opendir|mko?stemp|shm_open|getifaddrs)\s*\("
        r"|syscall\s*\(\s*SYS_(?:pidfd_open|userfaultfd|memfd_create|open\w*)\b"
        r"|std::[io]?fstream\s*(?:\w+\s*)?[({]|std::filesystem::(?:recursive_)?directory_iterator\s*[({]"
        r"|(?:PMIx_Init|ibv_open_device|ibv_get_device_list|ibv_create_comp_channel|rdma_create_\w+|rdma_bind_addr)\s*\()":
            "may take the number of a standard stream; use above_streams() of lib/core/streams_reserved.hpp, or foreign_call() where it may start threads",
    }, {
        "lib/core/streams_reserved.cpp": "it is where the numbers of standard streams are taken",
        "lib/simulation/device/events.cpp": "programs of this repository, in virtual time",
        "lib/preload/device_verbs.cpp": "it defines these functions, for soft0",
        "lib/preload/object_verbs.cpp": "it defines these functions, for soft0",
    }, "above_streams|foreign_call"),
    # A name may be a link that another user has placed there.
    Rule("include|lib/(?!preload)|tools/(?!tests)", {
        OPENS + r"(?:open\s*\([^;]*?\bO_[A-Z]+|(?:openat|creat|memfd_create|(?:std::)?(?:fopen|freopen|tmpnam)|mko?stemps?"
        r"|mkdtemp|shm_open)\s*\(|std::[io]?fstream\b|std::filesystem::(?:create_director|rename|copy)\w*\s*\()":
            "open files, and make shared memory, by the functions of lib/core/files.hpp, system_files.hpp and peer_descriptors.hpp",
    }, {
        "include/chorale/bench/contestant.hpp": "a file of the kernel, in a header for programs that are not of this repository",
        "lib/core/file_lock.cpp": "locks",
        "lib/core/file_place.cpp": "what stands on the way to a file",
        "lib/core/files.cpp": "what users name, and what the library makes",
        "lib/core/peer_descriptors.cpp": "shared memory",
        "lib/core/streams_reserved.cpp": "the root folder, in the place of a standard stream",
        "lib/core/system_files.cpp": "files of the kernel",
    }),
    # Printed text may come from the environment, a file, another process or a peer. Literals may be printed by other means.
    Rule("include|lib|tools", {
        r"(?<![\w.>])(?:fmt::v?print\s*\(|std::(?:cout|cerr|clog)\b|(?:std::)?(?:v?f?d?printf|putchar|fputc|fwrite|perror|v?warnx?)\s*\("
        r"|(?:std::)?f?puts\s*\((?!\s*(?:R?\"|\w+ \? \")))":
            r"prints what a terminal may obey; use chorale::say() of lib/core/printable.hpp, which shows it as `\x1b`",
    }, {
        "lib/core/printable.cpp": "it is what all others print by",
        "include/chorale/bench.hpp": "programs compile it, by detail::printable_text",
        "tools/parsing.hpp": "it writes what detail::printable_text returns",
        "tools/bench/plotter.cpp": "to the standard input of chorale-plot",
        "tools/bench/replaced_file.cpp": "to a file",
        "tools/measuring/counted/calls.cpp": "a literal",
        "tools/measuring/counted/plans.cpp": "a literal",
        "tools/lab/tsc_khz.cpp": "a number, by a program that needs neither Chorale nor fmt",
    }),
    Rule("include/chorale/algorithm", {
        r"(\.|->)\s*bytes\s*\(\s*\)":
            "takes bytes() of a message as they come; use transfer::place, transfer::exact or agreed::open, which check how many they are",
    }, {
        "include/chorale/algorithm/transfer.hpp": "it checks them",
        "include/chorale/algorithm/agreed.hpp": "it checks them",
    }),
    Rule("include/chorale/algorithm", {
        r"\b\w*net\w*\s*(\.|->)\s*(expose|offer|lend)\s*\((?!std::|\{)":
            "fails if the device refuses the memory; use transfer::expose, offer or lend, which use a copy then",
    }, {"include/chorale/algorithm/call_memory.hpp": "it is where they are", "include/chorale/algorithm/subset.hpp": "it is a transport to algorithms"}),
    Rule("include|lib", {
        r"\bas_bytes\s*\(\s*(std::)?span\s*\{\s*(&|this\b)": "sends the bytes of an object, padding and all; use detail::bytes_of",
    }, {"include/chorale/core/sendable.hpp": "it takes none with padding"}),
]


def files(root):
    return sources(root, "include", "lib", "tools")


def inside(functions, text):
    """The ranges of characters within the arguments of these functions."""
    for call in re.finditer(rf"\b({functions})\s*\(", text) if functions else []:
        depth = 0
        for at in range(call.end() - 1, len(text)):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            if depth == 0:
                yield call.end(), at
                break


def offences(root, rules=None):
    """Every use of what a rule forbids, and every unnecessary exemption, as lines of text."""
    rules = RULES if rules is None else rules
    found, needed = [], set()
    for file in files(root):
        text = re.sub(r"//[^\n]*", "", (root / file).read_text(encoding="utf-8"))
        for number, rule in enumerate(rules):
            if not re.match(rf"(?:{rule.where})/?", str(file)):
                continue
            allowed = list(inside(rule.within, text))
            for pattern, why in rule.forbidden.items():
                uses = [use for use in re.finditer(pattern, text) if not any(first <= use.start() < last for first, last in allowed)]
                if uses and str(file) in rule.exempt:
                    needed.add((number, str(file)))
                else:
                    lines = {text.count("\n", 0, use.start()) + 1: re.split(r"[({\n]", use.group())[0].strip() for use in uses}
                    found += [f"{file}:{line}: {what}: {why}" for line, what in lines.items()]
    return found + [f"{file}: is exempt in tests/style/own_functions.py and need not be"
                    for number, rule in enumerate(rules) for file in rule.exempt if (number, file) not in needed]


if __name__ == "__main__":
    run(offences, files, "files of the library and its programs")
