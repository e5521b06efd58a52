"""P1: barriers by RDMA and by multicast."""
from papers_figures.figure import Bench, Best, Contestant, Faster, Figure, at_each
from papers_figures.p5 import LATENCY, points

RPE = Contestant("RPE", "rc", "pairwise_exchange")
RDS = Contestant("RDS", "rc", "dissemination")
RGM = Contestant("RGM", "rc", "gather_multicast<7>")
MPI_PE = Contestant("MPI-PE", "rc_send_receive", "pairwise_exchange")
MPI_DS = Contestant("MPI-DS", "rc_send_receive", "dissemination")
BARRIERS = Bench("barrier", (RPE, RDS, RGM, MPI_PE, MPI_DS), ranks=tuple(range(2, 17)), small_ranks=(4, 5))
POWERS = (2, 4, 8, 16)

FAN_INS = tuple(Contestant(f"fan-in {fan_in}", "rc", f"gather_multicast<{fan_in}>") for fan_in in (1, 3, 7, 15))
FAN_IN_SWEEP = Bench("barrier", FAN_INS, ranks=(2, 4, 8, 12, 16), small_ranks=(4,))

MULTICAST = points("multicast", ranks=8)

ONE_HOST = "ranks that share cores run one after the other, so that the length of a tree's path costs less than its messages"
SWITCH = "the switch makes the copies of a multicast; soft0 makes them one after the other, on the sender's core"

FIGURES = (
    Figure("P1.1", "RDMA write beside send/receive between two nodes", "P1 section 2.1.2, figure 1", (LATENCY,), "bytes",
           claims=(Faster("RDMA write over send/receive, 4 B", "RC, RDMA", "RC, send/receive", at_each(bytes=4)),),
           cannot="what an adapter takes for either: soft0 writes memory for both, and what is left is matching and copies.",
           shown=("RC, RDMA", "RC, send/receive"), log_y=True),
    Figure("P1.2.1.3", "multicast of one byte to 1 and to 7 ranks", "P1 section 2.1.3", (MULTICAST,), "receivers", log_x=False,
           claims=(Faster("to 7 ranks in the time of 1 (9.8 us and 9.6 us)", "multicast", "multicast", at_each(receivers=7),
                          paper=9.6 / 9.8, than_at=at_each(receivers=1), headline=True, network=SWITCH),
                   Faster("to 7 ranks over a datagram to each", "multicast", "one by one", at_each(receivers=7), network=SWITCH)),
           cannot=f"that the time does not grow with the receivers: {SWITCH}, and receivers share the cores. Half of the time to "
                  "and fro over queue pairs of datagrams, with nothing that repairs: the receivers answer in turn by a datagram "
                  "to the sender. The paper does not say how it measured. In each row 8 ranks are there; those without a part wait."),
    Figure("P1.6", "RGM by fan-in", "P1 section 6, figure 6", (FAN_IN_SWEEP,), "ranks",
           claims=(Best("fan-in 7 is best on 16 nodes", "fan-in 7", tuple(one.name for one in FAN_INS), at_each(ranks=16),
                        headline=True, network=ONE_HOST),),
           cannot=f"which fan-in is best: {ONE_HOST}; and a parent is no hot spot where writes do not meet at one adapter."),
    Figure("P1.7", "barriers on powers of two beside MPI's pairwise exchange", "P1 section 6, figure 7", (BARRIERS,), "ranks",
           claims=(Faster("RPE over MPI-PE, 8 nodes", "RPE", "MPI-PE", at_each(ranks=8), 1.25, headline=True),
                   Faster("RDS over MPI-PE, 8 nodes", "RDS", "MPI-PE", at_each(ranks=8), 1.27, headline=True),
                   Faster("RPE over MPI-PE, 16 nodes", "RPE", "MPI-PE", at_each(ranks=16), headline=True),
                   Faster("RDS over MPI-PE, 16 nodes", "RDS", "MPI-PE", at_each(ranks=16), headline=True),
                   Faster("RGM over MPI-PE, 16 nodes", "RGM", "MPI-PE", at_each(ranks=16), 1.29, headline=True,
                          network=SWITCH),
                   Faster("RGM against MPI-PE, 2 and 4 nodes", "RGM", "MPI-PE", at_each(ranks=(2, 4)), slower=True,
                          headline=True, network="a multicast costs no more than a write where neither crosses a network")),
           cannot=f"the gain by multicast: {SWITCH}.", shown=("RPE", "RDS", "RGM", "MPI-PE"), only=(("ranks", POWERS),)),
    Figure("P1.8", "barriers on all group sizes beside MPI's pairwise exchange", "P1 section 6, figure 8", (BARRIERS,), "ranks",
           claims=(Faster("RDS over MPI-PE, up to, 3 to 7 nodes", "RDS", "MPI-PE", at_each(ranks=(3, 5, 6, 7)), 1.64, most=True,
                          headline=True),
                   Faster("RGM over MPI-PE, up to, 3 to 7 nodes", "RGM", "MPI-PE", at_each(ranks=(3, 5, 6, 7)), 1.71, most=True,
                          headline=True, network=SWITCH),
                   Faster("RGM over MPI-PE, up to, 2 to 16 nodes", "RGM", "MPI-PE", at_each(ranks=range(2, 17)), 1.59,
                          most=True, network=SWITCH),
                   Faster("RPE over MPI-PE, all groups", "RPE", "MPI-PE", at_each(ranks=range(2, 17)))),
           cannot=f"the gain by multicast: {SWITCH}.", shown=("RPE", "RDS", "RGM", "MPI-PE"), log_x=False),
    Figure("P1.9", "barriers beside MPI's dissemination", "P1 section 6, figure 9", (BARRIERS,), "ranks",
           claims=(Faster("RDS over MPI-DS, up to, 2 to 8 nodes", "RDS", "MPI-DS", at_each(ranks=range(2, 9)), 1.36, most=True,
                          headline=True),
                   Faster("RDS over MPI-DS, up to, 2 to 16 nodes", "RDS", "MPI-DS", at_each(ranks=range(2, 17)), 1.32,
                          most=True, headline=True),
                   Faster("RGM over MPI-DS, up to, 2 to 8 nodes", "RGM", "MPI-DS", at_each(ranks=range(2, 9)), 1.46, most=True,
                          headline=True, network=SWITCH),
                   Faster("RGM over MPI-DS, up to, 2 to 16 nodes", "RGM", "MPI-DS", at_each(ranks=range(2, 17)), 1.48,
                          most=True, headline=True, network=SWITCH)),
           cannot=f"the gain by multicast: {SWITCH}.", shown=("RDS", "RGM", "MPI-DS"), log_x=False),
)
