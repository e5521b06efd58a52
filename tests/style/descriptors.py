#!/usr/bin/env python3
"""Checks that lib/ opens descriptors, and has other libraries do it, only by above_streams() or foreign_call().

Usage: descriptors.py ROOT. Whatever is opened otherwise may become a standard stream of a program that runs without one, and
receive its output (lib/core/streams_reserved.hpp). Prints each offence as `file:line: what`; exit status 1 if there is one.
"""
import re

from tree import library, run

OPENS = re.compile(r"(?<![\w.>:])(?:::)?(?:(?:open|openat)\s*\([^;]*?\bO_[A-Z]+"
                   r"|(?:creat|pipe2?|socket|socketpair|accept4?|dup[23]?|memfd_create|eventfd|epoll_create1?|signalfd|timerfd_create"
                   r"|inotify_init1?|std::fopen|fopen|opendir|mko?stemp|shm_open|getifaddrs)\s*\("
                   r"|syscall\s*\(\s*SYS_(?:pidfd_open|userfaultfd|memfd_create|open\w*)\b"
                   r"|std::[io]?fstream\s*(?:\w+\s*)?[({]|std::filesystem::(?:recursive_)?directory_iterator\s*[({]"
                   r"|(?:PMIx_Init|ibv_open_device|ibv_get_device_list|ibv_create_comp_channel|rdma_create_\w+|rdma_bind_addr)\s*\()")
GUARDS = re.compile(r"\b(above_streams|foreign_call)\s*\(")

# Each file that may, and why.
EXEMPT = {
    "lib/core/streams_reserved.cpp": "it is where the numbers of standard streams are taken",
    "lib/simulation/device/events.cpp": "programs of this repository, in virtual time",
    "lib/simulation/machine/read_machine.cpp": "programs of this repository, in virtual time",
    "lib/preload/device_verbs.cpp": "it defines these functions, for soft0",
    "lib/preload/object_verbs.cpp": "it defines these functions, for soft0",
}


def inside(text):
    """The ranges of characters within the parentheses of the guards."""
    found = []
    for guard in GUARDS.finditer(text):
        depth = 0
        for at in range(guard.end() - 1, len(text)):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            if depth == 0:
                found.append((guard.end(), at))
                break
    return found


def offences(root, exempt=None):
    """Every unguarded opening, and every exemption that nothing needs, as lines of text."""
    exempt = EXEMPT if exempt is None else exempt
    found = []
    needed = set()
    for file in library(root):
        if file.parts[0] != "lib":
            continue
        text = re.sub(r"//[^\n]*", "", (root / file).read_text(encoding="utf-8"))
        guarded = inside(text)
        for opening in OPENS.finditer(text):
            if any(first <= opening.start() < last for first, last in guarded):
                continue
            if str(file) in exempt:
                needed.add(str(file))
            else:
                what = re.match(r"(?:::)?[\w:]+", opening.group()).group()
                found.append(f"{file}:{text.count(chr(10), 0, opening.start()) + 1}: {what} may take the number of a standard stream; use "
                             "above_streams() of lib/core/streams_reserved.hpp, or foreign_call() where it may start threads")
    return found + [f"{file}: is exempt in tests/style/descriptors.py and need not be" for file in sorted(set(exempt) - needed)]


if __name__ == "__main__":
    run(offences, library, "files of the library")
