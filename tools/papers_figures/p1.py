# SPDX-License-Identifier: Apache-2.0
"""P1: barriers by RDMA and by multicast."""
from papers_figures.figure import Bench, Best, Computed, Contestant, Faster, Figure, at_each
from papers_figures.p5 import LATENCY, points

RPE = Contestant("RPE", "rc", "pairwise_exchange")
RDS = Contestant("RDS", "rc", "dissemination")
RGM = Contestant("RGM", "rc", "gather_multicast<7>")
MPI_PE = Contestant("MPI-PE", "rc_send_receive", "pairwise_exchange")
MPI_DS = Contestant("MPI-DS", "rc_send_receive", "dissemination")
BARRIERS = Bench("barrier", (RPE, RDS, RGM, MPI_PE, MPI_DS), ranks=tuple(range(2, 17)), small_ranks=(4, 5))
POWERS = (2, 4, 8, 16)
CLUSTER_1, CLUSTER_2 = tuple(range(2, 9)), tuple(range(2, 17))

FAN_INS = tuple(Contestant(f"fan-in {fan_in}", "rc", f"gather_multicast<{fan_in}>") for fan_in in (1, 3, 7, 15))
FAN_IN_SWEEP = Bench("barrier", FAN_INS, ranks=(2, 4, 8, 12, 16), small_ranks=(4,))

MULTICAST = points("multicast", ranks=8)

ONE_HOST = "ranks that share cores run one after the other, so that the length of a tree's path costs less than its messages"
SWITCH = "the switch makes the copies of a multicast; soft0 makes them one after the other, on the sender's core"

UD = "a multicast costs no more than a write where neither crosses a network"


def spread(contestant, than, ranks):
    """The greatest ratio of `than` to `contestant` over these groups, divided by the least."""
    def compute(results):
        pairs = [(results.value(contestant, ranks=number), results.value(than, ranks=number)) for number in ranks]
        if None in sum(pairs, ()):
            return None
        ratios = [than_time / time for time, than_time in pairs]
        return max(ratios) / min(ratios)
    return compute


def on_all(who, than, ranks, cluster, **more):
    """A claim about every group size of a cluster."""
    return Faster(f"{who} over {than}, all groups of {ranks[0]} to {ranks[-1]} nodes, cluster {cluster}", who, than, at_each(ranks=ranks),
                  cluster=cluster, **more)


def up_to(who, than, ranks, cluster, paper, which="", **more):
    """A claim about the best of several group sizes."""
    return Faster(f"{who} over {than}, up to, {which or f'{ranks[0]} to {ranks[-1]} nodes'}, cluster {cluster}", who, than, at_each(ranks=ranks),
                  paper, most=True, cluster=cluster, **more)


FIGURES = (
    Figure("P1.1", "RDMA write beside send/receive between two nodes", "P1 section 2.1.2, figure 1", (LATENCY,), "bytes",
           claims=(Faster("RDMA write over send/receive, 4 B", "RC, RDMA", "RC, send/receive", at_each(bytes=4)),),
           cannot="what an adapter takes for either: soft0 writes memory for both, and what is left is matching and copies.",
           shown=("RC, RDMA", "RC, send/receive"), log_y=True),
    Figure("P1.2.1.3", "multicast of one byte to 1 and to 7 ranks", "P1 section 2.1.3", (MULTICAST,), "receivers", log_x=False,
           claims=(Faster("to 7 ranks in the time of 1 (9.8 us and 9.6 us)", "multicast", "multicast", at_each(receivers=7),
                          paper=9.6 / 9.8, than_at=at_each(receivers=1), network=SWITCH),),
           cannot=f"that the time does not grow with the receivers: {SWITCH}, and receivers share the cores. Half of the time to "
                  "and fro over queue pairs of datagrams, with nothing that repairs: the receivers answer in turn by a datagram "
                  "to the sender. The paper does not say how it measured. In each row 8 ranks are there; those without a part wait."),
    Figure("P1.6", "RGM by fan-in", "P1 section 6, figure 6", (FAN_IN_SWEEP,), "ranks",
           claims=(Best("fan-in 7 is best on 16 nodes, cluster 2", "fan-in 7", tuple(one.name for one in FAN_INS), at_each(ranks=16),
                        cluster=2, network=ONE_HOST),),
           cannot=f"which fan-in is best: {ONE_HOST}; and a parent is no hot spot where writes do not meet at one adapter."),
    Figure("P1.7", "barriers on powers of two beside MPI's pairwise exchange", "P1 section 6, figure 7", (BARRIERS,), "ranks",
           claims=(Faster("RPE over MPI-PE, 2, 4 and 8 nodes, cluster 1", "RPE", "MPI-PE", at_each(ranks=(2, 4, 8))),
                   Faster("RDS over MPI-PE, 2, 4 and 8 nodes, cluster 1", "RDS", "MPI-PE", at_each(ranks=(2, 4, 8))),
                   Faster("RPE over MPI-PE, 8 nodes, cluster 1", "RPE", "MPI-PE", at_each(ranks=8), 1.25),
                   Faster("RDS over MPI-PE, 8 nodes, cluster 1", "RDS", "MPI-PE", at_each(ranks=8), 1.27),
                   Faster("RGM against MPI-PE, 2 and 4 nodes, cluster 1", "RGM", "MPI-PE", at_each(ranks=(2, 4)), slower=True, network=UD),
                   Faster("RPE takes as long as RDS, 2, 4 and 8 nodes, cluster 1", "RPE", "RDS", at_each(ranks=(2, 4, 8)), similar=True),
                   Faster("RPE over MPI-PE, 2 to 16 nodes, cluster 2", "RPE", "MPI-PE", at_each(ranks=POWERS), cluster=2),
                   Faster("RDS over MPI-PE, 2 to 16 nodes, cluster 2", "RDS", "MPI-PE", at_each(ranks=POWERS), cluster=2),
                   Faster("RGM over MPI-PE, 16 nodes, cluster 2", "RGM", "MPI-PE", at_each(ranks=16), 1.29, cluster=2, network=SWITCH),
                   Best("RGM is best on 16 nodes, cluster 2", "RGM", ("RPE", "RDS", "RGM", "MPI-PE"), at_each(ranks=16), cluster=2,
                        network=SWITCH),
                   Faster("RGM against MPI-PE, 2 and 4 nodes, cluster 2", "RGM", "MPI-PE", at_each(ranks=(2, 4)), slower=True, cluster=2,
                          network=UD),
                   Faster("RPE takes as long as RDS, 2 to 16 nodes, cluster 2", "RPE", "RDS", at_each(ranks=POWERS), similar=True, cluster=2)),
           cannot=f"the gain by multicast: {SWITCH}.", shown=("RPE", "RDS", "RGM", "MPI-PE"), only=(("ranks", POWERS),)),
    Figure("P1.8", "barriers on all group sizes beside MPI's pairwise exchange", "P1 section 6, figure 8", (BARRIERS,), "ranks",
           claims=(up_to("RDS", "MPI-PE", (3, 5, 6, 7), 1, 1.64, "3, 5, 6 and 7 nodes"),
                   up_to("RGM", "MPI-PE", (3, 5, 6, 7), 1, 1.71, "3, 5, 6 and 7 nodes", network=SWITCH),
                   up_to("RGM", "MPI-PE", CLUSTER_2, 2, 1.59, network=SWITCH),
                   on_all("RPE", "MPI-PE", CLUSTER_1, 1), on_all("RPE", "MPI-PE", CLUSTER_2, 2),
                   Computed("the gain of RPE is nearly the same on all groups of 2 to 8 nodes: greatest by least ratio, cluster 1", 1.1,
                            spread("RPE", "MPI-PE", CLUSTER_1), most=True, at=at_each(ranks=CLUSTER_1), network=ONE_HOST),
                   Computed("the gain of RPE is nearly the same on all groups of 2 to 16 nodes: greatest by least ratio, cluster 2", 1.1,
                            spread("RPE", "MPI-PE", CLUSTER_2), most=True, at=at_each(ranks=CLUSTER_2), cluster=2, network=ONE_HOST),
                   *(Faster(f"{who} on 3, 5, 6 and 7 nodes against the next power of two, cluster 1", who, who, at_each(ranks=(3, 5, 6, 7)),
                            slower=True, than_at=at_each(ranks=4) + 3 * at_each(ranks=8), network=ONE_HOST) for who in ("MPI-PE", "RPE"))),
           cannot=f"the gain by multicast: {SWITCH}.", shown=("RPE", "RDS", "RGM", "MPI-PE"), log_x=False),
    Figure("P1.9", "barriers beside MPI's dissemination", "P1 section 6, figure 9", (BARRIERS,), "ranks",
           claims=(on_all("RDS", "MPI-DS", CLUSTER_1, 1), up_to("RDS", "MPI-DS", CLUSTER_1, 1, 1.36),
                   up_to("RGM", "MPI-DS", CLUSTER_1, 1, 1.46, network=SWITCH),
                   on_all("RDS", "MPI-DS", CLUSTER_2, 2), up_to("RDS", "MPI-DS", CLUSTER_2, 2, 1.32),
                   up_to("RGM", "MPI-DS", CLUSTER_2, 2, 1.48, network=SWITCH)),
           cannot=f"the gain by multicast: {SWITCH}.", shown=("RDS", "RGM", "MPI-DS"), log_x=False),
)

# Further statements of the text, and why they have no row.
NO_ROWS = (
    ("P1 section 5.4: datagrams are hardly ever lost, and a barrier that loses none pays nothing for what repairs it",
     "it has no number, and a network that loses nothing shows it by definition; tests/robustness loses datagrams on purpose"),
    ("P1 section 6: RGM performs best in most cases on cluster 2", "the text does not say in which; RGM on 16 nodes is a row, and figure P1.8 has all groups"),
)
