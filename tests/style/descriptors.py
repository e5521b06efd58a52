#!/usr/bin/env python3
"""Checks that lib/ opens descriptors, and has other libraries do it, only by above_streams() or foreign_call(), and that the library and
its tools open files and make shared memory only by the functions of lib/core.

Usage: descriptors.py ROOT. Whatever is opened otherwise may become a standard stream of a program that runs without one, and
receive its output (lib/core/streams_reserved.hpp); or it may be what another user has put there (lib/core/files.hpp). Prints each offence as `file:line: what`; exit status 1 if there is one.
"""
import re

from tree import library, run, sources

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
    "lib/preload/device_verbs.cpp": "it defines these functions, for soft0",
    "lib/preload/object_verbs.cpp": "it defines these functions, for soft0",
}

FILES = re.compile(r"(?<![\w.>:])(?:::)?(?:open\s*\([^;]*?\bO_[A-Z]+|(?:openat|creat|memfd_create|(?:std::)?(?:fopen|freopen|tmpnam)|mko?stemps?"
                   r"|mkdtemp|shm_open)\s*\(|std::[io]?fstream\b|std::filesystem::(?:create_director|rename|copy)\w*\s*\()")
OPENERS = {
    "include/chorale/bench/contestant.hpp": "a file of the kernel, in a header for programs that are not of this repository",
    "lib/core/file_lock.cpp": "locks",
    "lib/core/file_place.cpp": "what stands on the way to a file",
    "lib/core/files.cpp": "what users name, and what the library makes",
    "lib/core/peer_descriptors.cpp": "shared memory",
    "lib/core/streams_reserved.cpp": "the root folder, in the place of a standard stream",
    "lib/core/system_files.cpp": "files of the kernel",
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


def uses(root, files, pattern, permitted, permission, remedy, is_guarded=lambda text: []):
    """Every use of what `pattern` finds in the code of `files` beyond what `is_guarded` says, and every permission that nothing needs, as lines of text."""
    found = []
    needed = set()
    for file in files:
        text = re.sub(r"//[^\n]*", "", (root / file).read_text(encoding="utf-8"))
        guarded = is_guarded(text)
        for use in pattern.finditer(text):
            if any(first <= use.start() < last for first, last in guarded):
                continue
            if str(file) in permitted:
                needed.add(str(file))
            else:
                what = re.match(r"(?:::)?[\w:]+", use.group()).group()
                found.append(f"{file}:{text.count(chr(10), 0, use.start()) + 1}: {what}{remedy}")
    return found + [f"{file}: is {permission} in tests/style/descriptors.py and need not be" for file in sorted(set(permitted) - needed)]


def offences(root, exempt=None):
    """Every unguarded opening, and every exemption that nothing needs, as lines of text."""
    return uses(root, [file for file in library(root) if file.parts[0] == "lib"], OPENS, EXEMPT if exempt is None else exempt, "exempt",
                " may take the number of a standard stream; use above_streams() of lib/core/streams_reserved.hpp, or foreign_call() where it may start threads", inside)


def openings(root, openers=None):
    """Every file that is opened past lib/core, and every exemption that nothing needs, as lines of text."""
    files = [file for file in sources(root, "include", "lib", "tools") if file.parts[:2] not in (("tools", "tests"), ("lib", "preload"))]
    return uses(root, files, FILES, OPENERS if openers is None else openers, "an opener",
                ": open files, and make shared memory, by the functions of lib/core/files.hpp, system_files.hpp and peer_descriptors.hpp")


if __name__ == "__main__":
    run(lambda root: offences(root) + openings(root), library, "files of the library")
