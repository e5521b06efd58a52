"""An MPI library of a few lines, and a program for it, that go wrong as they are told; for compare_test.py."""

# Both programs: each operation takes 10 us, times a factor; what goes wrong is in BEHAVIOUR, and where, in WHERE.
PROGRAM = """#!/usr/bin/env -S python3 -I -S
import json, mmap, os, pathlib, sys, time
if "--from" in sys.argv:
    # What it would draw.
    if os.environ.get("BEHAVIOUR") == "blind":
        sys.exit("chorale-bench: cannot draw: no ink")
    told = list(zip(sys.argv, sys.argv[1:]))
    for name in [file for word, file in told if word in ("--plot", "--report")]:
        pathlib.Path(name).write_text(json.dumps([json.load(open(file)) for word, file in told if word == "--from"]))
    sys.exit()
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
    shared = open(os.environ["SHARED"], "w+b") if "SHARED" in os.environ else None
    memory = shared and (shared.truncate(4096), mmap.mmap(shared.fileno(), 4096))
    time.sleep(1000)
if what == "nonsense" and here:
    sys.stderr.write("nonsense \\xff" * 100000)
    file.write_text("{nonsense")
    sys.exit()
if what == "silent" and here:
    sys.exit()
value = {"nan": float("nan"), "negative": -3.0, "huge": 1e300, "text": "fast", "zero": 0, "true": True, "none": None}.get(what)
rows = []
for operation in operations:
    for algorithm, takes in times.items():
        if what == "missing" and where == operation:
            continue
        takes = value if what in ("nan", "negative", "huge", "text", "zero", "true", "none") and where == operation else takes
        rows.append({"operation": operation, "algorithm": algorithm, "bytes": 0 if operation == "barrier" else size,
                     "median": takes, "wall": takes})
if what == "strange":
    rows = 7
file.write_text(json.dumps({"about": {"MPI": "Fake 1.2"}, "ranks": 1 if what == "singletons" else ranks, "rows": rows}))
"""
# Its options are NAME=VALUE: what the program is to do. `orphan` leaves a process in a session of its own behind.
LAUNCHER = """#!/bin/sh
[ "$1" = --version ] && { echo "$VERSION"; exit; }
printf '%s\\n' "$*" >> "$COMMANDS"
[ "$1" = -n ] && export RANKS="$2" && shift 2
while :; do
  case "$1" in
    orphan) setsid sh -c 'echo $$ >> "$ORPHANS"; trap "" TERM; sleep 1000 & wait; wait' & shift;;
    stubborn) trap "" TERM; shift;;
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
