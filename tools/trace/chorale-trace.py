#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts together the traces of a job's ranks, into one file for https://ui.perfetto.dev or chrome://tracing.

Each rank of a job with CHORALE_TRACE=FILE writes what it does to files in FILE.JOB.parts, also if it is killed; this command
puts those of the latest such folder, or of the folders named, into FILE, and removes them. Clocks of hosts are aligned by the
calls. A job that still runs is better left alone: what it does later is lost. Exit status: 0; 1 if there is nothing to put
together, or a file cannot be read or written; 2 for a mistake in the options.
"""
import argparse
import collections
import contextlib
import json
import os
import stat
import sys

SYNCHRONIZING = {"barrier", "allreduce", "allgather", "alltoall"}


class Refusal(Exception):
    """Something cannot be read or written; the text says why."""


def shown(text):
    """Untrusted text without control characters."""
    return "".join(c if c.isprintable() else c.encode(errors="surrogateescape").decode("latin-1").encode("unicode_escape").decode()
                   for c in str(text))


def say(text, to=sys.stdout):
    to.write("".join(line + "\n" for line in text.split("\n")))


def place_of(path):
    """(descriptor of the folder, name in it); does not follow other users' symbolic links."""
    folder = os.open("/" if os.path.isabs(path) else ".", os.O_PATH | os.O_DIRECTORY)
    names = [name for name in path.split("/") if name]
    for _ in range(10000):
        if not names or path.endswith("/"):
            raise Refusal("it is a folder")
        name = names.pop(0)
        try:
            seen = os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            if not names:
                return folder, name
            raise
        if stat.S_ISLNK(seen.st_mode):
            if seen.st_uid not in (0, os.geteuid()):
                raise Refusal(f"'{shown(name)}' is a symbolic link of another user")
            target = os.readlink(name, dir_fd=folder)
            if target.startswith("/"):
                folder = os.open("/", os.O_PATH | os.O_DIRECTORY)
            names = [part for part in target.split("/") if part] + names
        elif names:
            folder = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        else:
            return folder, name
    raise Refusal("there are too many symbolic links")


@contextlib.contextmanager
def replaced(path):
    """A file that replaces another one when it is complete."""
    folder, name = place_of(path)
    with contextlib.suppress(FileNotFoundError):
        seen = os.lstat(name, dir_fd=folder)
        if not stat.S_ISREG(seen.st_mode):
            raise Refusal("it is no regular file")
        if seen.st_uid != os.geteuid() and os.fstat(folder).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Refusal("it is another user's file")
    new = f"{name}.{os.getpid()}"
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder)
    try:
        with open(file, "w", encoding="utf-8") as out:
            yield out
        os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(new, dir_fd=folder)
        raise


def folder_at(path, own):
    """Opens a folder; with `own`, refuses one that another user may have planted beside FILE."""
    held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | (os.O_NOFOLLOW if own else 0))
    seen = os.fstat(held)
    if own and (seen.st_uid != os.geteuid() or seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        raise Refusal("it is another user's folder, or others can write in it; name it, if its parts are to be put together all the same")
    return held


def bytes_of(folder, name):
    """The bytes of a regular file in a folder; never waits."""
    with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Refusal("it is no regular file")
        return file.read()


def reason(problem):
    """The reason of an error, without the name of the object."""
    return problem.strerror if isinstance(problem, OSError) else str(problem)


def require_sound(event):
    """@throws TypeError if a field that is used here has another type"""
    arguments = event.get("args", {}) if isinstance(event, dict) else None
    if not (isinstance(arguments, dict) and all(isinstance(event.get(key, ""), str) for key in ("name", "ph", "cat"))
            and all(isinstance(event.get(key, 0), int) for key in ("pid", "tid"))
            and all(isinstance(arguments.get(key, 0), int) for key in ("call", "bytes", "dropped"))
            and all(isinstance(event.get(key, 0), (int, float)) for key in ("ts", "dur")) and {"name", "ph", "pid", "tid"} <= event.keys()):
        raise TypeError


class Part:
    """The trace of one rank in one communicator."""

    def __init__(self, folder, path, name):
        self.folder, self.name, self.path = folder, name, os.path.join(path, name + ".json")
        events, self.is_closed = self.lines()
        try:
            self.owner = json.loads(events[0])["args"]
            self.order = int(self.owner["home"]), int(self.owner["number"])
            self.group, self.host = str(self.owner["group"]), str(self.owner["host"])
            self.job = str(self.owner["job"])
        except (ValueError, KeyError, TypeError, IndexError) as e:
            raise Refusal("it is no part of a trace: it begins otherwise; remove it") from e

    def lines(self):
        """(the events as text, whether the communicator has ended)."""
        text = bytes_of(self.folder, self.name + ".json")
        with contextlib.suppress(FileNotFoundError):
            tail = bytes_of(self.folder, self.name + ".tail")
            rest = tail[21:].split(b"\0", 1)[0]
            if rest:
                text = text[:int(tail[:20])] + rest
        text = text.decode(errors="replace").rstrip()
        return text.removeprefix("[").removesuffix("]").split(",\n"), text.endswith("\n]")

    def events(self):
        """(names of rows and processes, other events by begin, events that were damaged); times are in nanoseconds."""
        names, events, waits, damaged = {}, [], [], 0
        for line in self.lines()[0][1:]:
            try:
                event = json.loads(line)
                require_sound(event)
                if event["ph"] == "M":
                    names[event["name"], event["pid"], event["tid"]] = event
                    continue
                begin, length = round(event["ts"] * 1000), round(event.get("dur", 0) * 1000)
                if "cat" not in event:
                    event["cat"] = "wait"
                    if "args" not in event:
                        waits.append(event)
                elif event["cat"] == "call":
                    call = event["args"]["call"]
                    for wait in waits:
                        wait["args"] = {"call": call}
                    waits.clear()
                events.append((begin, -length, len(events), event))
            except (ValueError, KeyError, TypeError, OverflowError):
                damaged += 1
        # By begin, containing events first: a wait ends before its call.
        events.sort()
        return list(names.values()), [(begin, -less, event) for begin, less, _, event in events], damaged


def sights(part):
    """The calls that no rank can leave before all have entered them: (number, begin, end)."""
    open_call = {}
    for begin, length, event in part.events()[1]:
        arguments = event.get("args", {})
        name = event["name"].removeprefix("i") if event["cat"] == "nonblocking" else event["name"]
        ordinary = name in SYNCHRONIZING and not arguments.get("failed") and (name == "barrier" or arguments.get("bytes"))
        if event["cat"] == "call" and ordinary:
            yield arguments["call"], begin, begin + length
        elif event["cat"] == "nonblocking" and ordinary:
            open_call[arguments["call"]] = True
        elif event["name"] == "runs" and open_call.pop(arguments.get("call"), False):
            yield arguments["call"], begin, begin + length


def shifts_of(calls, hosts):
    """{host: (nanoseconds to add to its times to get those of the first host, half the width of the bounds)}, without hosts that are unknown.

    `calls` are {call: {host: (last begin, first end)}}. A call that no rank leaves before all have entered it is a ping-pong between all ranks: in
    true time, the first end on one host is not before the last begin on another. Every such call bounds the difference of two clocks from both
    sides, shorter calls more tightly. If a clock drifts, its mean offset is used.
    """
    between = {}
    for seen in calls.values():
        for a, (a_begin, a_end) in seen.items():
            for b, (b_begin, b_end) in seen.items():
                if a != b:
                    low, high = between.get((a, b), (-float("inf"), float("inf")))
                    between[a, b] = max(low, a_begin - b_end), min(high, a_end - b_begin)
    found = {hosts[0]: (0, 0)}
    while True:
        # The host with the tightest bound to a host that is already known.
        next_ones = [(high - low, a, b, low) for (a, b), (low, high) in between.items() if a in found and b not in found]
        if not next_ones:
            return found
        width, a, b, low = min(next_ones)
        found[b] = found[a][0] + low + width // 2, width // 2 + max(found[a][1], 0)


def align(parts):
    """(shifts, remarks about them); the clock of the lowest rank's host is the reference."""
    hosts = list(dict.fromkeys(part.host for part in parts))
    calls = collections.defaultdict(dict)
    for part in parts if len(hosts) > 1 else []:
        for number, begin, end in sights(part):
            seen = calls[part.group, number]
            last_begin, first_end = seen.get(part.host, (begin, end))
            seen[part.host] = max(last_begin, begin), min(first_end, end)
    shifts = shifts_of(calls, hosts)
    return shifts, [
        f"clock of host {host}: shifted by {shifts[host][0]} ns to that of {hosts[0]}, give or take {shifts[host][1]} ns" if host in shifts else
        f"clock of host {host}: unknown, since no call of all ranks has ended on it and on {hosts[0]}" for host in hosts[1:]]


def merge(parts, path):
    """Writes the merged trace. @returns the remarks to print"""
    shifts, remarks = align(parts)
    records = dropped = 0
    with replaced(path) as out:
        job = {"name": "chorale_job", "ph": "M", "pid": 0, "tid": 0, "args": {"job": parts[0].job}}
        out.write("[\n" + json.dumps(job, ensure_ascii=False))
        for part in parts:
            names, events, damaged = part.events()
            if damaged:
                remarks.append(f"{shown(part.path)}: {damaged} of its events were damaged, and are left out")
            shift = shifts.get(part.host, (0, 0))[0]
            records += len(events)
            for begin, _, event in events:
                event["ts"] = (begin + shift) / 1000
                dropped += event.get("args", {}).get("dropped", 0)
            for event in names + [event for _, _, event in events]:
                out.write(",\n" + json.dumps(event, ensure_ascii=False))
        out.write("\n]\n")
    still_open = sum(not part.is_closed for part in parts)
    return [f"{records} records of {len(parts)} parts, {still_open} of which were not closed; {dropped} records were dropped", *remarks]


def folders_of(file):
    """([the latest of the folders with parts of a trace], the others)."""
    beside, name = os.path.split(file)
    found = [os.path.join(beside, entry.name) for entry in os.scandir(beside or ".")
             if entry.name.startswith(name + ".") and entry.name.endswith(".parts")]
    found.sort(key=lambda folder: os.lstat(folder).st_mtime_ns)
    if not found:
        raise Refusal(f"there are no parts of {shown(file)}")
    return found[-1:], found[:-1]


def read(folders, own):
    """The parts in folders, and remarks on those that were not read."""
    parts, remarks = [], []
    for folder in folders:
        try:
            held = folder_at(folder, own)
        except (OSError, Refusal) as e:
            raise Refusal(f"{shown(folder)}: {reason(e)}") from e
        for name in sorted(os.listdir(held)):
            if not name.endswith(".json"):
                continue
            try:
                parts.append(Part(held, folder, name.removesuffix(".json")))
            except (OSError, Refusal, ValueError) as e:
                remarks.append(f"{shown(os.path.join(folder, name))} is left out: {reason(e)}")
    if not parts:
        raise Refusal("; ".join(remarks) or f"there are no parts in {shown(folders[0])}")
    if len({part.job for part in parts}) > 1:
        raise Refusal("the parts are of several jobs: put the traces of jobs together one by one")
    return sorted(parts, key=lambda part: part.order), remarks


def main():
    parser = argparse.ArgumentParser("chorale-trace", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what CHORALE_TRACE was; is replaced")
    parser.add_argument("folders", nargs="*", help="folders with parts of one job, such as copies from several hosts; without any it is the latest "
                        "of those beside FILE")
    parser.add_argument("--keep", action="store_true", help="leave the parts where they are")
    parser.add_argument("--version", action="version", version="@version@")
    parser.error = lambda text: (say(f"chorale-trace: {shown(text)}; see chorale-trace --help", sys.stderr), sys.exit(2))
    options = parser.parse_args()
    folders, others = (options.folders, []) if options.folders else folders_of(options.file)
    parts, remarks = read(folders, not options.folders)
    try:
        said = merge(parts, options.file)
    except (OSError, Refusal) as e:
        raise Refusal(f"{shown(options.file)}: {reason(e)}") from e
    say(f"{shown(options.file)}: " + "\n".join(shown(line) for line in said + remarks))
    for other in others:
        say(f"{shown(other)} is of an earlier job: name it to put that together")
    if options.keep:
        return
    for part in parts:
        for ending in (".json", ".tail"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part.name + ending, dir_fd=part.folder)
    for path in folders:
        try:
            os.rmdir(path)
        except OSError:
            say(f"{shown(path)} stays, since there is more in it")


if __name__ == "__main__":
    try:
        main()
    except (OSError, Refusal) as problem:
        about = f"{shown(problem.filename)}: " if isinstance(problem, OSError) and problem.filename else ""
        say(f"chorale-trace: {about}{shown(reason(problem))}", sys.stderr)
        sys.exit(1)
