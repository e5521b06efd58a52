# SPDX-License-Identifier: Apache-2.0
"""P3, the thesis behind P2: degree-k allreduce over send/receive and over RDMA."""
from papers_figures.figure import Faster, Figure, at_each
from papers_figures.p2 import ALL_SIZES, ALLREDUCE_MODEL_HERE, ALLREDUCES, DEGREES, OF_ALLREDUCE, STEPS

SEND_RECEIVE = tuple(f"send/receive, degree {k}" for k in DEGREES)
RDMA = tuple(f"RDMA, degree {k}" for k in DEGREES)
MODEL = tuple(f"model, degree {k}, best" for k in DEGREES)

FIGURES = (
    Figure("P3.6.17", "allreduce by a binomial tree, send/receive and RDMA", "P3 figure 6.17", (ALLREDUCES, ALLREDUCE_MODEL_HERE),
           "bytes", log_y=True, model=OF_ALLREDUCE,
           claims=(Faster("degree 1 by RDMA over send/receive, all sizes", "RDMA, degree 1", "send/receive, degree 1",
                          at_each(ranks=16, bytes=ALL_SIZES)),),
           cannot="how much of the gain is the adapter's. The number of nodes of this figure is not known to us; these are 16.",
           shown=("send/receive, degree 1", "RDMA, degree 1", "model, degree 1, best"), only=(("ranks", (16,)),)),
    Figure("P3.6.31", "degree-k allreduce over send/receive on 16 and 8 nodes", "P3 figures 6.31, 6.32, 6.33 and 6.34",
           (ALLREDUCES,), "bytes", also=("P3.6.32", "P3.6.33", "P3.6.34"), cannot=f"which degree is best: {STEPS}.",
           shown=SEND_RECEIVE, only=(("ranks", (8, 16)),)),
    Figure("P3.6.35", "degree-k allreduce over send/receive and RDMA on 16 and 8 nodes", "P3 figures 6.35, 6.36, 6.37 and 6.38",
           (ALLREDUCES, ALLREDUCE_MODEL_HERE), "bytes", also=("P3.6.36", "P3.6.37", "P3.6.38"), log_y=True, model=OF_ALLREDUCE,
           shown=(*RDMA, *SEND_RECEIVE, *MODEL),
           claims=tuple(Faster(f"degree {k} by RDMA over send/receive, {ranks} nodes, 4 B and 4 KB", f"RDMA, degree {k}",
                               f"send/receive, degree {k}", at_each(ranks=ranks, bytes=(4, 4096)))
                        for ranks in (8, 16) for k in DEGREES if k < ranks),
           cannot=f"which degree is best: {STEPS}.", only=(("ranks", (8, 16)),)),
)

# Further statements of the fragments, and why they have no row.
NO_ROWS = (
    ("P3 figures 6.19, 6.20 and 6.23 to 6.30: degree-k allreduce on 16 and 8 nodes, and its model",
     "of these figures only the captions are there; P2 section 6.2.1 says what they show, and its claims are rows"),
)
