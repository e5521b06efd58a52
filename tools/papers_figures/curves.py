"""The papers' figures as curves on their own clusters, in virtual time: all points of a figure, by chorale-sim."""
import contextlib
import dataclasses
import json
import pathlib
import tempfile

from papers_figures import figure, measure, p2, p4, p5, simulated

HOW = ("Made by `tools/papers --virtual`: each figure in virtual time, by `chorale-sim` on the paper's own cluster (docs/machines.md), whose parameters "
       "are those of one host and of two. A ratio is how many times faster the first of a claim is than the second. Times are the same in each run.")
FITTED = ("The models: T_rd = ts log2 p + (p - 1) m tw and T_ring = (p - 1) (ts + m tw) (P4 section 2.3). P4 prints no values; here ts = {ts} us and tw = "
          "{tw} us a byte, of allgathers by RDMA of two processes on this machine: the time of 4 bytes, and what each byte up to 256 KB adds.")
KB = 1024

# P2 goes beyond its 16 nodes by its model alone; here as many hosts are simulated, on one switch.
NODES = (512, 1024)
LARGE_BROADCASTS = figure.Bench("broadcast", (p2.rdma_broadcast(3073), p2.SEND_RECEIVE), ranks=NODES, sizes=(4, 256, KB, 4 * KB), timing="last leaf")
LARGE_ALLREDUCES = figure.Bench("allreduce", tuple(one for one in p2.ALLREDUCES.contestants if one.name in (
    "RDMA, degree 1", "RDMA, degree 3", "send/receive, degree 1")), ranks=NODES, sizes=(4, 256, KB, 4 * KB))
LARGE = {
    "P2.9": (LARGE_BROADCASTS, (p2.BEST, "send/receive"), tuple(
        figure.Faster(f"RDMA over send/receive, {nodes} nodes, {size} B", p2.BEST, "send/receive", figure.at_each(ranks=nodes, bytes=size),
                      figure.less_by(percent)) for nodes in NODES for size, percent in ((4, 16), (4 * KB, 21)))),
    "P2.13": (LARGE_ALLREDUCES, (), tuple(
        figure.Faster(f"degree {degree} over send/receive, {nodes} nodes, {size} B", f"RDMA, degree {degree}", "send/receive, degree 1",
                      figure.at_each(ranks=nodes, bytes=size), figure.less_by(percent))
        for nodes, at_4 in ((512, 40), (1024, 41)) for degree, size, percent in ((3, 4, at_4), (1, 4 * KB, 14)))),
}
# The set-ups of P5 that a simulation needs differ from those that two cores have time for.
OF_P5 = {
    "P5.7a": (dataclasses.replace(simulated.ALLTOALLS, sizes=(4, 64, 256, KB, 4 * KB, 16 * KB, 32 * KB)),),
    "P5.7b": (dataclasses.replace(simulated.LIMITS, sizes=p5.HYBRID.sizes),),
    "P5.9": (dataclasses.replace(simulated.TRANSPORTS, sizes=p5.UD_ALLTOALL.sizes),),
}
OWN_P5 = {one.name: one for one in simulated.OF_P5}


def within(set_up, machine):
    """A set-up on those numbers of ranks that a cluster has hosts for."""
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


def of(one):
    """(figure, machine by ranks) of a whole figure; None if chorale-sim has nothing of it."""
    if one.name in OF_P5:
        return dataclasses.replace(one, set_ups=OF_P5[one.name], claims=OWN_P5[one.name].claims, cannot="", only=()), simulated.P5_CLUSTER
    machine = simulated.cluster_of(one)
    set_ups = tuple(within(set_up, machine) for set_up in simulated.set_ups_on_cluster(one)
                    if isinstance(set_up, figure.Bench) or set_up.name == "papers-model") if machine else ()
    claims = tuple(dataclasses.replace(claim, network="") for claim in one.claims)
    shown = one.shown
    if one.name in LARGE:
        large, more, said = LARGE[one.name]
        set_ups, claims, shown = (*set_ups, large), (*claims, *said), shown and (*shown, *more)
    if not any(isinstance(set_up, figure.Bench) for set_up in set_ups):
        return None
    said = one.model.replace(p4.OF_ALLGATHER, FITTED)
    return dataclasses.replace(one, set_ups=set_ups, claims=claims, shown=shown, model=said, cannot=""), machine


@contextlib.contextmanager
def clan_of(hosts):
    """P2's cluster by ranks, with so many hosts where there are more ranks than it had; its switch has the ports."""
    source = pathlib.Path(__file__).resolve().parents[2] / "lib/simulation/machines/clan2003.json"
    document = json.loads(source.read_text(encoding="utf-8"))
    document["hosts"] = {"count": hosts, "from": "[P2] section 6.1.2: it projects to as many"}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"clan2003-{hosts}.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        yield simulated.by_ranks((16, "clan2003"), (hosts, str(file)))


def run(found, tools, progress, time_limit):
    """{name of a figure: Results}. Figures that share a cluster share their launches."""
    results = {}
    with clan_of(max(NODES)) as clan:
        for machine in dict.fromkeys(machine for _, machine in found):
            chosen = [one for one, its in found if its is machine]
            launcher = simulated.Simulator(time_limit=time_limit, machine=clan if machine is simulated.CLAN else machine)
            results |= measure.measure(chosen, tools, launcher, simulated.EFFORT, 1, progress)
    return results
