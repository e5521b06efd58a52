# SPDX-License-Identifier: Apache-2.0
"""The papers' figures on their own clusters, in virtual time: chorale-sim simulates all points of a figure."""
import contextlib
import dataclasses
import json
import pathlib
import tempfile

from papers_figures import figure, measure, p2, p4, p5, simulated

HOW = ("Made by `tools/papers --virtual`: each figure in virtual time, by `chorale-sim` on the paper's own cluster (docs/machines.md), whose parameters "
       "are those of one host and of two. A ratio is how many times faster the first of a claim is than the second. Each row is a run of its own, and "
       "the same each time. [simulated](../simulated.md) has the rule by which claims are judged.")
FITTED = ("The models: T_rd = ts log2 p + (p - 1) m tw and T_ring = (p - 1) (ts + m tw) (P4 section 2.3). P4 prints no values; here ts = {ts} us and tw = "
          "{tw} us a byte, of allgathers by RDMA of two processes on this machine: the time of 4 bytes, and what each byte up to 256 KB adds.")
KB = 1024

# Beyond 16 nodes, P2 has only its model; here the same number of hosts is simulated, on one switch.
NODES = (512, 1024)
LARGE_BROADCASTS = figure.Bench("broadcast", (p2.rdma_broadcast(3073), p2.SEND_RECEIVE), ranks=NODES, sizes=(4, 4 * KB), timing="last leaf")
LARGE_ALLREDUCES = figure.Bench("allreduce", tuple(one for one in p2.ALLREDUCES.contestants if one.name in (
    "RDMA, degree 1", "RDMA, degree 3", "send/receive, degree 1")), ranks=NODES, sizes=(4, KB, 4 * KB))


def over_send_receive(what, who, than, nodes, size, percent):
    """A gain that P2 projects for a number of nodes."""
    return figure.Faster(f"{what} over send/receive, {nodes:,} nodes, {size:,} B, simulated", who, than, figure.at_each(ranks=nodes, bytes=size),
                         figure.less_by(percent))


def best_of_two(degree, other, nodes, sizes, text):
    """Which of the two degrees that P2 section 6.2.2 names is best on a number of nodes."""
    return figure.Faster(f"degree {degree} over degree {other}, {nodes:,} nodes, {text}, simulated", f"RDMA, degree {degree}",
                         f"RDMA, degree {other}", figure.at_each(ranks=nodes, bytes=sizes))


LARGE = {
    "P2.9": (LARGE_BROADCASTS, (p2.BEST, "send/receive"), tuple(
        over_send_receive("RDMA", p2.BEST, "send/receive", nodes, size, percent) for nodes in NODES for size, percent in ((4, 16), (4 * KB, 21)))),
    "P2.13": (LARGE_ALLREDUCES, (), tuple(
        claim for nodes, at_4 in ((512, 40), (1024, 41)) for claim in (
            over_send_receive("degree 3", "RDMA, degree 3", "send/receive, degree 1", nodes, 4, at_4),
            over_send_receive("degree 1", "RDMA, degree 1", "send/receive, degree 1", nodes, 4 * KB, 14),
            best_of_two(3, 1, nodes, (4, KB), "4 B and 1 KB"), best_of_two(1, 3, nodes, 4 * KB, "4 KB")))),
}
# The simulated set-ups of P5 are larger than those that two cores have time for.
ZERO_COPY = figure.Contestant("RDMA", "rc", "direct", (("CHORALE_ALLTOALL_ZERO_COPY_BYTES", 1),))
COPIES = figure.Contestant("send/receive", "rc_send_receive", "direct", p5.COPIES_ONLY)
ALLTOALLS = figure.Bench("alltoall", (ZERO_COPY, COPIES), ranks=(32, 64), sizes=p5.SHORT_TO_MEDIUM)
TRANSPORTS = figure.Bench("alltoall", (figure.Contestant("direct-UD", "ud", "direct"), figure.Contestant("direct-SRQ", "rc_send_receive", "direct", p5.COPIES_ONLY),
                                       figure.Contestant("Bruck", "rc_send_receive", "bruck", p5.COPIES_ONLY)),
                          ranks=(32, 61), sizes=(*p5.SHORT, KB, 4 * KB, 16 * KB))
LIMITS = dataclasses.replace(p5.HYBRID, ranks=(32,))
OF_P5 = {
    "P5.7a": (ALLTOALLS, (p5.of_rdma(32, 38), p5.of_rdma(64, 33, bound=True))),
    "P5.7b": (LIMITS, p5.of_limits(32, LIMITS.sizes)),
    "P5.9": (TRANSPORTS, (*p5.of_transports(32), *p5.of_transports(61))),
}


def within(set_up, machine):
    """A set-up on those of its numbers of ranks for which a cluster has enough hosts."""
    def has_room(ranks):
        try:
            return bool(machine(ranks))
        except StopIteration:
            return False
    if isinstance(set_up, figure.Bench):
        return dataclasses.replace(set_up, ranks=tuple(filter(has_room, set_up.ranks)))
    if set_up.fit:
        return dataclasses.replace(set_up, fit=dataclasses.replace(set_up.fit, of=within(set_up.fit.of, machine)))
    return set_up


def visible(claim):
    """The claim where ranks share no host."""
    return dataclasses.replace(claim, network="")


def on_cluster(one, machine, name, cluster):
    """A figure on one cluster of its paper."""
    set_ups = tuple(within(set_up, machine) for set_up in simulated.set_ups_on_cluster(one)
                    if isinstance(set_up, figure.Bench) or set_up.name == "papers-model")
    claims = tuple(visible(claim) for claim in one.claims if claim.cluster == cluster and not claim.fitted)
    shown = one.shown
    if one.name in LARGE:
        large, more, said = LARGE[one.name]
        set_ups, claims, shown = (*set_ups, large), (*claims, *said), shown and (*shown, *more)
    if not any(isinstance(set_up, figure.Bench) for set_up in set_ups):
        return []
    return [(dataclasses.replace(one, name=name, set_ups=set_ups, claims=claims, shown=shown, model=one.model.replace(p4.OF_ALLGATHER, FITTED), cannot="", twin=""), machine)]


def of(one):
    """[(figure, machine by ranks)] of a whole figure, one for each cluster that it has in the paper; empty if chorale-sim simulates nothing of it."""
    if one.name in OF_P5:
        set_up, claims = OF_P5[one.name]
        return [(dataclasses.replace(one, set_ups=(set_up,), claims=tuple(map(visible, claims)), cannot="", only=()), simulated.P5_CLUSTER)]
    if one.paper == "P1" and any(isinstance(set_up, figure.Bench) for set_up in one.set_ups):
        # In P1's figures, parts (a) and (b) are of cluster 1, (c) and (d) of cluster 2.
        parts = {1: "a", 2: "c"} if one.name != "P1.6" else {2: ""}
        return [found for cluster, part in parts.items()
                for found in on_cluster(one, simulated.P1_CLUSTERS[cluster], one.name + part, cluster)]
    machine = simulated.cluster_of(one)
    return on_cluster(one, machine, one.name, 1) if machine else []


def all_of(figures):
    """The same for several figures."""
    return [found for one in figures for found in of(one)]


@contextlib.contextmanager
def changed(name, changes, more=None):
    """A file of a machine with other values; `name` is a machine of the library or a file. `changes` are pairs of a path ("adapter.contexts.count") and a
    value in the unit of the file. @throws KeyError if there is no such number"""
    source = pathlib.Path(name)
    document = json.loads((source if source.suffix else simulated.MACHINES / f"{name}.json").read_text(encoding="utf-8"))
    document.update(more or {})
    for path, value in changes:
        at = document
        for key in path.split("."):
            place = int(key) if isinstance(at, list) and key.isdigit() else key  # host.combine.0.rate
            try:
                at = at[place]
            except (KeyError, IndexError, TypeError):
                raise KeyError(path) from None
        units = [key for key in at if key != "from"] if isinstance(at, dict) else []
        if len(units) != 1:
            raise KeyError(path)
        at.update({units[0]: float(value) if not float(value).is_integer() else int(float(value)), "from": "estimate: given to tools/papers"})
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"{source.stem}.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        yield str(file)


@contextlib.contextmanager
def clan_of(hosts):
    """P2's cluster by ranks, enlarged to `hosts` hosts, with as many switch ports, for more ranks than it had."""
    with changed("clan2003", (), {"hosts": {"count": hosts, "from": "[P2] section 6.1.2: it projects to as many"}}) as file:
        yield simulated.by_ranks((16, "clan2003"), (hosts, file))


def run(found, tools, progress, time_limit, changes=(), points=None):
    """{name of a figure: Results}. `changes`: for each machine, as for `changed`; `points`: as from measure.wanted_points."""
    results = {}
    with contextlib.ExitStack() as open_files:
        clan = open_files.enter_context(clan_of(max(NODES)))
        for machine in dict.fromkeys(machine for _, machine in found):
            chosen = [one for one, its in found if its is machine]
            used = clan if machine is simulated.CLAN else machine
            if changes:
                names = {}
                def other(ranks, used=used, names=names):
                    name = used(ranks)
                    if name not in names:
                        names[name] = open_files.enter_context(changed(name, changes))
                    return names[name]
                used = other
            results |= measure.measure(chosen, tools, simulated.Simulator(time_limit=time_limit, machine=used), simulated.EFFORT, 1, progress,
                                       points=points)
    return results
