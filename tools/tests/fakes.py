# SPDX-License-Identifier: Apache-2.0
"""Fake programs for measure_test.py, which fail or make up figures as requested: a minimal MPI library with a program, a compiler and a
valgrind."""

import pathlib
import stat

import running

# Stands for both programs: each operation takes 10 us times a factor; BEHAVIOUR is the kind of failure, and WHERE the
# operation that fails.
PROGRAM = """#!/usr/bin/env -S python3 -I -S
import json, mmap, os, pathlib, sys, time
given = dict(zip(sys.argv[1::1], sys.argv[2::1]))
names = ("barrier", "broadcast", "allreduce", "scan")
operations, size = [word for word in sys.argv[1:] if word in names], int(given["--min-bytes"])
what, where, ranks = os.environ.get("BEHAVIOUR", ""), os.environ.get("WHERE", ""), int(os.environ.get("RANKS", "2"))
here = not where or where in operations
file = pathlib.Path(given["--json"])
if "--algorithms" in sys.argv:
    times = {"standard": 10.0, "ring": 8.0 if size > 4 else 20.0, "tree": 9.0}
else:
    times = {"any": float(os.environ.get("TAKES", "10"))}
log = os.environ.get("LOG")
if log:
    with open(log, "a") as out:
        print(os.environ.get("WHO", "chorale"), ranks, size, *operations, file=out)
if what == "crash" and here or what == "late" and len(open(log).readlines()) > 2:
    sys.stderr.write("\\x1b[31mlast words\\n")
    sys.stderr.flush()
    os.abort()
if what == "hang" and here:
    time.sleep(1000)
rows = []
for operation in operations:
    for algorithm, takes in times.items():
        rows.append({"operation": operation, "algorithm": algorithm, "bytes": 0 if operation == "barrier" else size,
                     "median": takes, "wall": takes})
file.write_text(json.dumps({"about": {"MPI": "Fake 1.2"}, "machine": {"host": "h", "processor": "Fake"}, "ranks": ranks, "rows": rows}))
"""
# Its options are NAME=VALUE, the variables of the program. `orphan` leaves a process behind in a separate session.
LAUNCHER = """#!/bin/sh
[ "$1" = --version ] && { echo "$VERSION"; exit; }
printf '%s\\n' "$*" >> "$COMMANDS"
[ "$1" = -n ] && export RANKS="$2" && shift 2
while :; do
  case "$1" in
    orphan) setsid sh -c 'echo $$ >> "$ORPHANS"; trap "" TERM; sleep 1000 & wait; wait' & shift;;
    *=*) export "$1"; shift;;
    /*) break;;
    *) shift;;
  esac
done
"$@"
"""
COMPILER = """#!/bin/sh
[ -z "$BROKEN" ] || { echo "mpi.h:3: error: no such thing" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
cp "$PROGRAM" "$2"
"""
# Fakes of the build and counting programs of tools/measure. A call of this tree ("here") takes 10 % more.
COUNTING = {
    "meson": """#!/bin/sh
mkdir -p "$2" && : > "$2/build.ninja"
""",
    "ninja": """#!/bin/sh
mkdir -p "$2/lib" && : > "$2/lib/libchorale.so"
""",
    "compiler": """#!/bin/sh
while [ "$1" != -o ]; do shift; done
: > "$2"
""",
    "objdump": """#!/bin/sh
printf '  10:\\tdiv    %%rax\\n'
""",
    "valgrind": """#!/bin/sh
[ -z "$SILENT" ] || exit 0
ranks=
for word; do
  case "$word" in
    --separate-threads=yes) ranks=yes;;
    --callgrind-out-file=*) out="${word#*=}";;
    */here/*) more=1;;
  esac
done
dump() { printf 'desc: Trigger: Client Request: %s\\n%s\\ntotals: %s\\n' "$1" "$2" "$3" > "$out.${1%% *}"; }
if [ -n "$ranks" ]; then
  dump "barrier 2 0" 'ob=(1) /libchorale.so
fl=(1) lib/soft/x.cpp
fn=(1) chorale::soft::f()
0x8 7 60
+8 * 20
cfn=(2) chorale::soft::post_send(int)
calls=3 0x20
* * 1000
fl=(2) include/chorale/transport/endpoint/waiting.hpp
fn=(3) chorale::g()
0x30 9 20' 100
else
  dump "put_plain 8 10" "" 1000
  dump "put_nonblocking 8 10" "" 1200
  dump "put_run 8 10" "" "1${more:-0}00"
  dump "put_start 8 10" "" 1200
fi
""",
}


class Faked(running.InFolder):
    """Fake programs precede the real ones on the path."""

    def write(self, name, text):
        """Writes an executable file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def none_is_left(self):
        """Checks that no orphaned process is left."""
        for pid in self.lines("orphans"):
            self.assertFalse(pathlib.Path("/proc", pid).exists())

    def lines(self, name):
        """The lines of a file that a fake has written."""
        return (self.folder / name).read_text(encoding="utf-8").splitlines()
