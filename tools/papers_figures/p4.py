# SPDX-License-Identifier: Apache-2.0
"""P4: allgather by RDMA."""
import dataclasses

from papers_figures.figure import Bench, Contestant, Faster, Figure, Fit, Grows, Program, at_each, less_by, model
from papers_figures.p5 import LATENCY

KB = 1024
EFFORT = ("--check", "--samples", 30, "--warmup", 60, "--iterations", 3000, "--budget", 0.06)
SMALL_EFFORT = ("--check", "--samples", 2, "--warmup", 2, "--iterations", 4, "--budget", 0.002)

# The paper's threshold M (section 4.2). The collective buffer "never needs to be more than" a multiple of it "which is 8 KB": the text
# has lost the factor. A copied step sends less than M, so at most 2 M are collected: then M is 4 KB; with another factor it may be 8
# KB.
THRESHOLDS = (4 * KB, 8 * KB)


def by_rdma(memory="one buffer"):
    """The paper's algorithm with each M, first with M measured at start-up, since the paper determines it empirically for its clusters."""
    return (Contestant("RDMA", "rc", "recursive_doubling", memory=memory),
            *(Contestant(f"RDMA, M = {switch // KB} KB", "rc", "recursive_doubling", (("CHORALE_ZERO_COPY_BYTES", switch),), memory)
              for switch in THRESHOLDS))


def on_its_clusters(set_up):
    """The paper's M on its own clusters is known: the contestant "RDMA" is the one with 4 KB."""
    return dataclasses.replace(set_up, contestants=tuple(
        dataclasses.replace(one, name="RDMA") if one.name == "RDMA, M = 4 KB" else one for one in set_up.contestants if one.name != "RDMA"))


DOUBLING, RING = "P2P, recursive doubling", "P2P, ring"


def of_mpich(at):
    """The algorithm of MPICH 1.2.6, the paper's MVAPICH-P2P, at a point (P4 section 2.3, after Thakur and Gropp, EuroPVM/MPI 2003):
    recursive doubling on powers of two for less than 512 KB in total (its MPIR_ALLGATHER_LONG_MSG), else the ring. On other numbers
    of processes it uses Bruck's algorithm below 80 KB, which no claim needs."""
    return DOUBLING if at["ranks"] * at["bytes"] < 512 * KB else RING


def p2p(memory="one buffer"):
    """Both baselines over send/receive."""
    return tuple(Contestant(name, "rc_send_receive", algorithm, memory=memory)
                 for name, algorithm in ((DOUBLING, "recursive_doubling"), (RING, "ring")))


SIZES = (4, 32, 256, KB, 4 * KB, 8 * KB, 16 * KB, 32 * KB, 64 * KB, 128 * KB, 256 * KB)
ALLGATHERS = Bench("allgather", (*by_rdma(), *p2p()), ranks=(2, 4, 8, 16, 32), sizes=SIZES, small_ranks=(4, 5),
                   small_sizes=(4, 32 * KB))
FRESH = Bench("allgather", (*by_rdma("fresh"), *p2p(memory="fresh")),
              ranks=(16, 32), sizes=(4 * KB, 8 * KB, 16 * KB, 32 * KB, 64 * KB, 128 * KB, 256 * KB), small_ranks=(4,),
              small_sizes=(32 * KB,))
REGISTRATION = Program("chorale-points", ("registration", *EFFORT), ("registration", *SMALL_EFFORT, "--sizes", "4096,1048576"))
MATRIX = Program("chorale-points", ("matrix", "--check", "--samples", 30, "--warmup", 60, "--iterations", 3000, "--budget", 0.5),
                 ("matrix", *SMALL_EFFORT), ranks=8, environment=(("OPENBLAS_NUM_THREADS", 1),))



def message_costs(results):
    """ts and tw: the one-way time of the shortest message over RC, and the time per additional byte up to the longest."""
    times = sorted((dict(row.at)["bytes"], row.value) for row in results.rows if row.contestant == "RC, RDMA")
    if len(times) < 2:
        return None
    (least, short), (most, long) = times[0], times[-1]
    return {"ts": short, "tw": max(0, (long - short) / (most - least))}


ALLGATHER_MODEL = model("allgather", ALLGATHERS.ranks, SIZES, small_ranks=(4, 5),
                        fit=Fit(LATENCY, message_costs, (("--startup", "ts"), ("--byte", "tw"))))
OF_ALLGATHER = ("The models: T_rd = ts log2 p + (p - 1) m tw and T_ring = (p - 1) (ts + m tw) (P4 section 2.3), for ranks with a core "
                "each. P4 prints no values; here ts = {ts} us and tw = {tw} us a byte, of messages between two ranks over RC (P5.8a): "
                "the time of 4 bytes, and what each byte up to 256 KB adds.")

ONE_HOST = ("the ranks share the cores, so that a call takes the sum of what all ranks do, and what one does while another "
            "waits is not hidden")
PINNING = "soft0 pins no pages and fills no table of an adapter: it notes where the memory is"


def latency(part, cluster, ranks, percent, twin=""):
    """Figures 1 to 3: claims at 4 B, 32 KB and 256 KB. None: the number is illegible in the text."""
    return Figure(f"P4.{part}", f"allgather on {ranks} processes, cluster {cluster}", f"P4 section 5.1, figure {part}",
                  (ALLGATHERS, ALLGATHER_MODEL), "bytes", only=(("ranks", (ranks,)),), log_y=True, model=OF_ALLGATHER,
                  claims=tuple(Faster(f"RDMA over P2P, {ranks} processes, {text}", "RDMA", of_mpich,
                                      at_each(ranks=ranks, bytes=size), value and less_by(value))
                               for text, size, value in zip(("4 B", "32 KB", "256 KB"), (4, 32 * KB, 256 * KB), percent)),
                  twin=twin, cannot=f"how much: {ONE_HOST}.")


FIGURES = (
    latency(1, "A", 16, (17, 23, 7)),
    latency(2, "A", 32, (13, 30, 6)),
    latency(3, "B", 16, (15, None, 21), twin="P4.1"),
    Figure("P4.4a", "allgather of 32 KB by number of processes", "P4 section 5.1, figure 4(a)",
           (ALLGATHERS, ALLGATHER_MODEL), "ranks", only=(("bytes", (32 * KB,)),), log_y=True, model=OF_ALLGATHER,
           claims=(Faster("RDMA over P2P at 32 KB on every number of processes", "RDMA", of_mpich,
                          at_each(ranks=(2, 4, 8, 16, 32), bytes=32 * KB)),
                   Grows("what P2P takes more at 32 KB grows with the processes, 2 to 32", "RDMA", of_mpich,
                         at_each(ranks=(2, 4, 8, 16, 32), bytes=32 * KB), network=ONE_HOST)),
           cannot=f"how the gap grows with the processes: {ONE_HOST}."),
    Figure("P4.4b", "what registering memory costs", "P4 section 5.2, figure 4(b)", (REGISTRATION,), "bytes", log_y=True,
           claims=(Faster("for short messages a copy costs less than registering (section 4.1)", "copy", "register",
                          at_each(bytes=4 * KB)),
                   Faster("for long ones registering costs less than a copy (section 4.1)", "register", "copy",
                          at_each(bytes=KB * KB))),
           cannot=f"the about 90 us of a registration (section 3.4): {PINNING}."),
    Figure("P4.5a", "allgather without reuse of buffers, cluster A", "P4 section 5.2, figure 5(a)",
           (FRESH, ALLGATHER_MODEL), "bytes", only=(("ranks", (32,)), ("bytes", FRESH.sizes)), log_y=True, model=OF_ALLGATHER,
           claims=(Faster("RDMA over P2P without reuse, 32 processes, 32 KB", "RDMA", of_mpich, at_each(ranks=32, bytes=32 * KB), 4.75),),
           cannot=f"how much: {PINNING}, so that the registrations of the baseline cost little."),
    Figure("P4.5b", "allgather without reuse of buffers, cluster B", "P4 section 5.2, figure 5(b)",
           (FRESH, ALLGATHER_MODEL), "bytes", only=(("ranks", (16,)), ("bytes", FRESH.sizes)), log_y=True, model=OF_ALLGATHER,
           claims=(Faster("RDMA over P2P without reuse, 16 processes, 32 KB", "RDMA", of_mpich, at_each(ranks=16, bytes=32 * KB), 3),),
           cannot=f"how much: {PINNING}, so that the registrations of the baseline cost little."),
    Figure("P4.5c", "matrix multiplication, 256 x 256 on 8 processes", "P4 section 5.3, figure 5(c)", (MATRIX,), "bytes",
           claims=(Faster("RDMA over P2P, fresh buffers", "RDMA, fresh buffers", "send/receive, fresh buffers",
                          at_each(ranks=8, bytes=2 * KB), less_by(37)),),
           cannot=f"how much: {ONE_HOST}; and {PINNING}. Bytes are those of a row of B."),
)

# Further statements of the text, and why they have no row.
NO_ROWS = (
    ("P4 section 5.1: 32 KB on 16 processes of cluster B, with a number", "our copy of the text has lost the number; that RDMA is faster is a row"),
    ("P4 section 3.4: a registration takes about 90 us", "it is a parameter of the simulated clusters, so that it would agree with itself"),
    ("P4 section 4.3: the ring for more than 1 MB on more than 32 processes", "it is a rule without a measurement; no cluster of the paper has more than 32 nodes"),
)
