#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The steps of tools/check-rxe, in the guest. Usage: check.py BUILD [--smoke | --papers | --cluster | --places] [--list] [NAME...]"""
import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

import meeting  # noqa: E402
from papers_figures import catalogue  # noqa: E402

SKIPPED, OUT_OF_TIME = 77, 124
OUTCOMES = {0: "passed", SKIPPED: "skipped", OUT_OF_TIME: "OUT OF TIME"}


@dataclasses.dataclass
class Step:
    """A command, and the losses of the wires while it runs."""
    name: str
    command: list
    loss: float = 0.0
    limit: int = 120
    variables: dict = dataclasses.field(default_factory=dict)
    show: bool = False  # its output is part of the report


def mpirun(ranks, *words, limit, more=()):
    """The command that starts a program on that many ranks, and ends them at the time limit. `more`: options of launch.py."""
    return [str(ROOT / "tests/multirank/launch.py"), "--timeout", str(limit), *more, str(ranks), *map(str, words)]


def smoke_steps(build):
    """A test of one minute that the lab works, and that Chorale works in it."""
    yield Step("devices", ["rdma", "link"])
    yield Step("chorale-info", [str(build / "tools/chorale-info")])
    # Few calls, with known results.
    yield Step("allreduce, 2 ranks",
               mpirun(2, build / "tools/chorale-bench", "--check", "--iterations", 20, "--samples", 4, "--warmup", 4,
                      "--budget", "0.1", "--min-bytes", 8, "--max-bytes", 16, "allreduce", limit=120),
               limit=150, variables={"CHORALE_RANKS": "2"})


def collectives(build, transport, ranks, loss):
    """The test of the collectives, reduced on many ranks, which are slow in a guest."""
    limit = 300
    return Step(f"{transport}, {ranks} ranks, {loss:g} % lost",
                mpirun(ranks, build / "tests/multirank/collectives", "--largest", 262144 // ranks, limit=limit), loss,
                limit + 30, {"CHORALE_TEST_TRANSPORT": transport,
                             "CHORALE_TEST_BUDGET": "1" if ranks <= 4 else "0.4"})


def all_steps(build):
    """All steps, from the lower layers upwards."""
    yield from smoke_steps(build)
    on_one = {"CHORALE_TEST_DEVICE": "rxe1"}
    yield Step("verbs tests", [str(build / "tests/verbs/verbs_tests"), "[device]"], variables=on_one)
    yield Step("verbs conformance", [str(build / "tests/verbs/conformance/verbs_conformance")], limit=900,
               variables=on_one)
    for loss in 0.0, 1.0:
        for ranks in 2, 3, 4, 8:
            yield collectives(build, "rc", ranks, loss)
    for ranks in 2, 4, 8:
        yield collectives(build, "ud", ranks, 0.0)
    for loss, ranks in (0.0, 4), (1.0, 4), (5.0, 4), (1.0, 8):
        yield Step(f"multicast barrier, {ranks} ranks, {loss:g} % lost",
                   mpirun(ranks, build / "tests/multirank/lost_multicasts", 300 if loss else 60, limit=200), loss,
                   230,
                   # With the default patience, a rank in a slow guest asks too soon, which would look like a loss.
                   {"CHORALE_MULTICAST_PATIENCE_US": "200000"} if loss == 0 else {}, show=True)
    yield Step("multicast by rdma_cm, 4 ranks",
               mpirun(4, build / "tests/multirank/lost_multicasts", 60, limit=200), 0.0, 230,
               {"CHORALE_MULTICAST_JOIN": "rdma_cm", "CHORALE_MULTICAST_PATIENCE_US": "200000"}, show=True)
    for loss in 0.0, 1.0:
        for transport, ranks in ("ud_rdma", 2), ("hybrid", 4):
            yield Step(f"{transport}, {ranks} ranks, {loss:g} % lost",
                       mpirun(ranks, build / "tests/multirank/datagrams", transport, limit=300), loss, 330,
                       {"CHORALE_TEST_BUDGET": "0.3"})
    failures = [str(ROOT / "tests/multirank/failures.py"), str(build / "tests/multirank/failing")]
    several = {"CHORALE_TEST_DEVICE": os.environ.get("CHORALE_DEVICE", "rxe1"), "CHORALE_TEST_BUDGET": "0.15",
               "CHORALE_TEST_SLOWNESS": "3"}
    for loss in 0.0, 1.0:
        yield Step(f"killed rank, rc, {loss:g} % lost", [*failures, "Killed.test_rc"], loss, 300, several)
    yield Step("killed rank, ud", [*failures, "Killed.test_ud"], 0.0, 300, several)
    for ranks in 2, 4:
        yield Step(f"bench, {ranks} ranks",
                   mpirun(ranks, build / "tools/chorale-bench", "--check", "--budget", "0.15", "--samples", 10,
                          "--min-bytes", 8, "--max-bytes", 65536, limit=300), limit=330, show=True)


def papers_steps(build):
    """The papers' figures in their small form: seconds on a host, minutes here."""
    for one in catalogue.all_figures():
        yield Step(f"papers {one.name}", [str(ROOT / "tools/papers"), one.name, "--small", "--time-limit", "600", "--build", str(build)],
                   limit=900, show=True)


def cluster_steps(build):
    """Two hosts (tools/rxe-lab --hosts 2): ranks that meet by bootstrap::tcp, and the sessions of the guide."""
    yield Step("ranks on two hosts, no launcher", [str(ROOT / "tools/lab/meeting.py"), str(build / "tests/bootstrap/tcp_ranks")], limit=1500, show=True)
    for page in "without-launcher", "cluster":
        yield Step(f"session on two hosts, {page}", [str(ROOT / "tools/lab/session.py"), "replay", str(build), str(build / "meson-logs/rxe/session"), page],
                   limit=2400, show=True)


def places_steps(build):
    """Two hosts with several ranks each: soft0 within a host, Soft-RoCE between hosts."""
    folder = build / "meson-logs/rxe/places"

    def on_hosts(layout, *words):
        hosts, *more = layout.split()
        return mpirun(sum(int(host.split(":")[1]) for host in hosts.split(",")), *words, limit=600, more=("--hosts", hosts, *more))

    def step(name, loss, command, **variables):
        return Step(f"{name}, {loss:g} % lost" if loss else name, command, loss, 630, variables)

    def python(test, limit):
        return Step(f"places, {test.lower()}", [str(ROOT / "tools/lab/places.py"), str(build), str(folder), test], limit=limit, show=True)

    for layout in "node1:4,node2:4", "node1:3,node2:1", "node1:2,node2:3 --by-node":
        yield Step(f"layout {layout}", on_hosts(layout, build / "examples/26_places"), limit=630, show=True)
    for loss in 0.0, 1.0:
        for layout in "node1:2,node2:2", "node1:4,node2:4", "node1:2,node2:3 --by-node":
            yield step(f"collectives {layout}", loss, on_hosts(layout, build / "tests/multirank/collectives", "--largest", 32768), CHORALE_TEST_TRANSPORT="rc", CHORALE_TEST_BUDGET="0.4")
        yield step("hybrid node1:2,node2:2", loss, on_hosts("node1:2,node2:2", build / "tests/multirank/datagrams", "hybrid"), CHORALE_TEST_BUDGET="0.3")
        yield step("windows node1:2,node2:2", loss, on_hosts("node1:2,node2:2", build / "tests/multirank/windows", "1"))
    yield python("Killed", 1800)
    yield python("Slurm", 1200)
    yield python("Near", 1300)
    yield python("Lost", 900)


def wires():
    """The interfaces of the RDMA devices; their names are the same on all machines."""
    return sorted(path.name for path in pathlib.Path("/sys/class/net").iterdir() if re.fullmatch(r"w\d+", path.name))


def tc(host, *words, **how):
    """Runs tc on a machine; an empty name means this one."""
    return subprocess.run([*(["ssh", host] if host else []), "tc", *words], stdin=subprocess.DEVNULL, **how)


def losses(host, wire):
    """The number of packets lost by each loss rule of a wire."""
    told = tc(host, "-s", "-j", "qdisc", "show", "dev", wire, check=True, capture_output=True).stdout
    return [qdisc.get("drops", 0) for qdisc in json.loads(told) if qdisc.get("kind") == "netem"]


def lose(hosts, percent):
    """From now on, the machines' wires lose that percentage of outgoing packets."""
    for host, wire in itertools.product(hosts, wires()):
        if percent > 0:
            tc(host, "qdisc", "replace", "dev", wire, "root", "netem", "loss", f"{percent}%", "limit", "100000", check=True)
            continue
        # Fails if there is nothing to delete.
        tc(host, "qdisc", "delete", "dev", wire, "root", check=False, stderr=subprocess.DEVNULL)
        if losses(host, wire):
            sys.exit(f"{wire} of {host or 'this machine'} still loses packets")


def lost_packets(hosts):
    """The packets lost on the wires of each machine since `lose`; 0 if a machine does not answer."""
    try:
        return [sum(sum(losses(host, wire)) for wire in wires()) for host in hosts]
    except subprocess.CalledProcessError:
        return [0] * len(hosts)


def run(step, logs, number, hosts):
    """(outcome, seconds, packets lost on the wires of each machine) of a step."""
    lose(hosts, step.loss)
    log = logs / f"{number:02}-{re.sub('[^a-z0-9]+', '-', step.name)}.log"
    began = time.monotonic()
    with log.open("wb") as out:
        out.write(f"$ {shlex.join(step.command)}\n".encode())
        out.flush()
        try:
            status = subprocess.run(step.command, check=False, timeout=step.limit, stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.STDOUT, env={**os.environ, **step.variables}).returncode
        except subprocess.TimeoutExpired:
            status = OUT_OF_TIME
        except FileNotFoundError as missing:
            out.write(f"{missing}: has it been built? ninja -C {logs.parents[1]}\n".encode())
            status = 127
    seconds = time.monotonic() - began
    outcome = OUTCOMES.get(status, f"FAILED ({status})")
    text = log.read_text(encoding="utf-8", errors="replace")
    # Queried only if packets may be lost: the last step of --places switches a machine off.
    lost = lost_packets(hosts) if step.loss > 0 else [0]
    if step.loss > 0 and 0 in lost:
        outcome = f"FAILED (packets lost on each machine: {lost})"
    if outcome not in ("passed", "skipped"):
        print(f"--- {step.name}: {outcome}; the end of {log}:\n" + "\n".join(text.splitlines()[-40:]), flush=True)
    elif step.show:
        print(text, flush=True)
    return outcome, seconds, lost


def total(outcomes):
    """What became of all steps, of which `outcomes` has the name and the outcome, in a line; and whether none failed."""
    skipped = [name for name, outcome in outcomes if outcome == "skipped"]
    failed = sum(outcome not in ("passed", "skipped") for _, outcome in outcomes)
    named = f" ({'; '.join(skipped)})" if skipped else ""
    return f"{len(outcomes)} steps, {failed} failed, {len(skipped)} skipped{named}", failed == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--smoke", dest="steps", action="store_const", const=smoke_steps, default=all_steps)
    which.add_argument("--papers", dest="steps", action="store_const", const=papers_steps)
    which.add_argument("--cluster", dest="steps", action="store_const", const=cluster_steps)
    which.add_argument("--places", dest="steps", action="store_const", const=places_steps)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    steps = list(options.steps(options.build))
    steps = [step for step in steps if not options.names or any(name in step.name for name in options.names)]
    if options.list:
        print("\n".join(step.name for step in steps))
        return
    if not steps:
        sys.exit(f"no step is called {' or '.join(options.names)}; --list shows them")
    logs = options.build / "meson-logs/rxe"
    hosts = ["", *meeting.HOSTS[1:]] if options.steps == places_steps else [""]
    lines, outcomes = [], []
    for number, step in enumerate(steps, 1):
        outcome, seconds, lost = run(step, logs, number, hosts)
        lines.append(f"{step.name:<32} {outcome:<12} {seconds:>8.1f} s {' + '.join(map(str, lost)):>10} lost packets")
        outcomes.append((step.name, outcome))
        print(lines[-1], flush=True)
    print(f"\n== {os.uname().release}, {os.environ.get('CHORALE_DEVICE', '')}\n" + "\n".join(lines))
    said, good = total(outcomes)
    print(said)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
