# SPDX-License-Identifier: Apache-2.0
"""Runs a command with a time limit, and leaves nothing of it behind."""
import ctypes
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
SHARED_MEMORY = "/dev/shm/"
GRACE = 3  # seconds for a launcher to end its ranks itself
MOST_SAID = 65536  # bytes of output that are kept, at the beginning and at the end
FOREIGN = ("PMIX_", "OMPI_", "PMI_", "MPI_", "HYDI_", "HYDRA_")
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PRTE_ALLOW_RUN_AS_ROOT",
           "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")


class Refused(Exception):
    """A command that failed or took too long, or whose result cannot be used; the text gives the reason."""


def environment(prefix=None):
    """The environment of a launched program, with programs and libraries below `prefix` first in the paths.

    Root may start ranks, since containers often have no other user. Variables of a launcher that started this script are removed.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN) or name.startswith("OMPI_MCA_")}
    kept.update(dict.fromkeys(AS_ROOT, "1"))
    if prefix:
        for name, folder in (("PATH", "bin"), ("LD_LIBRARY_PATH", "lib")):
            kept[name] = os.pathsep.join(filter(None, (str(pathlib.Path(prefix) / folder), kept.get(name))))
    return kept


def run(command, variables, limit):
    """Runs a command for at most `limit` seconds. @returns the beginning of its output. @throws Refused"""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before, files_before = descendants(), set(os.listdir(SHARED_MEMORY)) if os.path.isdir(SHARED_MEMORY) else set()
    # The launcher's session folder is in this folder, and so is removed even if the launcher is killed.
    with tempfile.TemporaryDirectory(prefix="measure-", ignore_cleanup_errors=True) as folder:
        process, in_time = None, False
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       env={**variables, "TMPDIR": folder}, start_new_session=True)
            said = Said(process.stdout)
            in_time = ended(process, limit)
        except OSError as e:
            raise Refused(f"{command[0]} does not start: {e.strerror}") from e
        finally:
            # A signal that ends the script may arrive at any point, even before `process` is set.
            if not in_time:
                files = mapped(descendants() - before) - {SHARED_MEMORY + name for name in files_before}
                if process:
                    process.send_signal(signal.SIGTERM)
                    ended(process, GRACE)
            end_all(process, before, GRACE if in_time else 0)
            if not in_time:
                remove(files)
        text = said.text()  # also waits for the reader thread
    if not in_time:
        raise Refused(f"took more than {limit:g} s")
    if process.returncode != 0:
        raise Refused(f"{how_ended(process.returncode)}{': ' if text else ''}{text}")
    return said.first.decode(errors="replace")


def run_named(command, variables, limit):
    """The same for words of any type; exceptions begin with the command."""
    command = [str(word) for word in command]
    try:
        return run(command, variables, limit)
    except Refused as e:
        raise Refused(f"{shlex.join(command)} {e}") from e


def how_ended(status):
    """Describes an exit status."""
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"


def ended(process, limit):
    """Waits for a process. @returns whether it has ended within `limit` seconds"""
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        return False
    return True


class Said:
    """The beginning and the end of a pipe's data, read by a thread, so that the writer does not block."""

    def __init__(self, pipe):
        self.first = self.last = b""
        self.pipe = pipe
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        """Reads until all write ends are closed."""
        while piece := self.pipe.read1(65536):
            self.first = (self.first + piece)[:MOST_SAID]
            self.last = (self.last + piece)[-MOST_SAID:]

    def text(self):
        """After the writers have ended, in one line: messages of Chorale's programs, else lines with errors, else the end of the output."""
        self.thread.join(GRACE)
        if not self.thread.is_alive():
            self.pipe.close()
        lines = [" ".join(line.split()) for line in self.last.decode(errors="replace").splitlines()]
        # Launchers add much text, and the ranks repeat each other.
        ours = " / ".join(list(dict.fromkeys(line for line in lines if line.startswith(("chorale", "papers-"))))[:8])
        errors = " / ".join(line for line in lines if "error" in line.lower())
        return "".join(letter for letter in ours[:1500] or errors[:400] or " ".join(lines)[-400:] if letter.isprintable()).strip()


def descendants():
    """The PIDs of all direct and indirect children of this process, which as a subreaper adopts orphans."""
    children = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            # The process name, in parentheses, may contain blanks.
            parent = int(pathlib.Path("/proc", entry, "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(int(entry))
    found, left = set(), [os.getpid()]
    while left:
        for child in children.get(left.pop(), []):
            found.add(child)
            left.append(child)
    return found


def end_all(process, before, patience):
    """Ends all processes of a command after `patience` seconds, in which they may end by themselves.

    Launchers put ranks into their own process groups and sessions, so it does not suffice to kill one group.
    """
    deadline = time.monotonic() + patience
    while left := descendants() - before:
        if process and process.returncode is None and process.poll() is not None:
            continue
        for pid in left:
            if process is None or pid != process.pid:
                try:
                    if time.monotonic() >= deadline:
                        os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, os.WNOHANG)
                except (ProcessLookupError, ChildProcessError):
                    pass  # it has ended meanwhile, or is not an orphan yet
            elif time.monotonic() >= deadline:
                process.kill()
        time.sleep(0.01)


def mapped(pids):
    """The shared memory files that processes have mapped."""
    found = set()
    for pid in pids:
        try:
            lines = pathlib.Path("/proc", str(pid), "maps").read_text(errors="replace").splitlines()
        except OSError:
            continue
        found.update(path for path in (line.partition("/")[1:] for line in lines) for path in ["".join(path)]
                     if path.startswith(SHARED_MEMORY))
    return found


def remove(files):
    """Removes shared memory files that killed processes left behind, unless other processes have them mapped."""
    used = mapped(entry for entry in os.listdir("/proc") if entry.isdigit()) if files else set()
    for file in files - used:
        pathlib.Path(file).unlink(missing_ok=True)
