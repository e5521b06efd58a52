# SPDX-License-Identifier: Apache-2.0
"""P2: broadcast and allreduce by RDMA."""
from papers_figures.figure import Bench, Best, Computed, Contestant, Faster, Figure, at_each, less_by, model

# A block of the paper ends with a counter of one byte, ours with a trailer of 16: the blocks carry equal amounts of
# data.
TRAILER = 16
COUNTER = 1
KNOWN_BLOCKS = (1025, 3073)  # of the paper's four; two are lost in our copy of the text, and replaced by others
BLOCKS = (1025, 2049, 3073, 4097)


def rdma_broadcast(block):
    """The paper's broadcast in blocks of a given size: a rank forwards a message when it is complete (section 4.1.3)."""
    return Contestant(f"RDMA, block {block}", "rc", "binomial_store_and_forward",
                      (("CHORALE_BLOCK_BYTES", block - COUNTER + TRAILER),))


# As in MVICH: copied up to 5 KB, in blocks of 1 KB (sections 3.1 and 6.1.1).
MVICH = (("CHORALE_SEND_RECEIVE_EAGER_BYTES", 5120), ("CHORALE_SEND_RECEIVE_BLOCK_BYTES", 1024 + TRAILER))
SEND_RECEIVE = Contestant("send/receive", "rc_send_receive", "binomial_store_and_forward", MVICH)
BROADCASTS = Bench("broadcast", (*(rdma_broadcast(block) for block in BLOCKS), SEND_RECEIVE), ranks=(2, 16),
                   sizes=(4, 64, 256, 1024, 2048, 3072, 4096, 4608), small_ranks=(4,), small_sizes=(4, 4608), timing="last leaf")
BEST = "RDMA, block 3073"

DEGREES = (1, 3, 7, 15)
# Whole messages in one write (section 4.2.3): blocks of 5 KB and the trailer.
RDMA_REDUCE = (("CHORALE_BLOCK_BYTES", 5120 + TRAILER),)
ALLREDUCES = Bench("allreduce", (*(Contestant(f"RDMA, degree {k}", "rc", f"degree_k<{k}>", RDMA_REDUCE) for k in DEGREES),
                                 *(Contestant(f"send/receive, degree {k}", "rc_send_receive", f"degree_k<{k}>", MVICH)
                                   for k in DEGREES)),
                   ranks=(4, 8, 16), sizes=(4, 64, 256, 512, 1024, 2048, 4096), small_ranks=(4,), small_sizes=(4, 4096))
SIZES = (4, 64, 256, 1024, 1028, 2048, 4096)
# 512 bytes are included for the only number of the paper about them.
ALL_SIZES = tuple(size for size in ALLREDUCES.sizes if size != 512)

BROADCAST_MODEL = model("broadcast", (16, 512, 1024), BROADCASTS.sizes)
ALLREDUCE_MODEL = model("allreduce", (512, 1024), SIZES, "--degree", "1,3")
ALLREDUCE_MODEL_HERE = model("allreduce", (8, 16), ALLREDUCES.sizes, "--degree", "1,3,7,15")
DEGREE_MODEL = model("degree", (4, 8, 16, 512, 1024), SIZES)
PARAMETERS = ("with the parameters that P2 prints for GigaNet's adapters and 1 GHz processors (docs/papers.md, The models): what "
              "can be compared is how it grows.")
OF_BROADCAST = f"The model: P2 section 5.1, blocks of 3073 bytes, {PARAMETERS}"
OF_ALLREDUCE = f"The model: P2 section 5.2 and P3 figure 6.16, {PARAMETERS}"

# The send/receive time between two nodes, which P2 measured but did not print; docs/papers.md derives it from its
# results.
TWO_NODES = {("broadcast", 4): 10.72, ("broadcast", 4096): 77.15, ("allreduce", 4): 26.3, ("allreduce", 4096): 137.65}


# The assumption of rows about the models.
SEND_RECEIVE_TIME = "the time of send/receive on two nodes, which follows from a gain of the paper"
OPERATION = "To, which follows from where degree 1 takes over in the paper"


def gain(operation, contestant, ranks, size):
    """The percentage by which the model's time is below log2 N steps of send/receive."""
    def compute(results):
        time = results.value(contestant, ranks=ranks, bytes=size)
        return None if time is None else 100 * (1 - time / ((ranks - 1).bit_length() * TWO_NODES[operation, size]))
    return compute


def optimal(ranks, size):
    """The best degree according to the model."""
    return lambda results: results.value("model", ranks=ranks, bytes=size)


def degree_claim(text, ranks, size, degree):
    """A line of P2 figure 11."""
    return Computed(f"best degree by the model: {text}", degree, optimal(ranks, size), 0, "{:.0f}", fitted=OPERATION)


def gain_claim(text, printed, operation, contestant, ranks, size):
    """A number of P2 section 6.1.2 or 6.2.2."""
    return Computed(text, printed, gain(operation, contestant, ranks, size), 0.5, "{:.0f} %", fitted=SEND_RECEIVE_TIME)


WIRE = "what a byte and a message cost on a wire: the model has the parameters of the paper's adapters"
STEPS = ("ranks that share cores run one after the other: what counts is all that they do, and the number of switches between "
         "them, not the length of the longest path")
OVERLAP = "copies overlap with a wire that there is not"
EXTRAPOLATED = "The paper extrapolates from two nodes as well: log2 N steps of send/receive."
UP_TO_1K, ABOVE = (4, 64, 256, 1024), (2048, 4096)


def model_error(results):
    """The greatest deviation of the model from the broadcast in blocks of 3073 on 16 nodes, in percent of the broadcast."""
    pairs = [(results.value("model", ranks=16, bytes=size), results.value(BEST, ranks=16, bytes=size)) for size in BROADCASTS.sizes[:-1]]
    return None if None in sum(pairs, ()) else max(100 * abs(model / time - 1) for model, time in pairs)


def allreduce_error(degree, sizes):
    """The greatest deviation of the allreduce on 16 nodes from the range of the model's best and worst case, in percent of that case."""
    def compute(results):
        found = []
        for size in sizes:
            time, best, worst = (results.value(name, ranks=16, bytes=size) for name in (
                f"RDMA, degree {degree}", f"model, degree {degree}, best", f"model, degree {degree}, worst"))
            if None in (time, best, worst):
                return None
            found.append(max(0, 100 * (1 - time / best), 100 * (time / worst - 1)))
        return max(found)
    return compute


def best_degree(text, ranks, sizes, degree):
    """A line of P2 figure 11, as measured."""
    return Best(f"degree {degree} is best on {ranks:,} nodes, {text}", f"RDMA, degree {degree}",
                tuple(f"RDMA, degree {k}" for k in DEGREES if k < min(ranks, 16)), at_each(ranks=ranks, bytes=sizes), network=STEPS)


FIGURES = (
    Figure("P2.6", "broadcast of up to 1 KB on 16 nodes", "P2 section 6.1.1, figure 6", (BROADCASTS, BROADCAST_MODEL), "bytes",
           log_y=True, model=OF_BROADCAST,
           claims=(Faster("block 3073 over send/receive, 4 B", BEST, "send/receive", at_each(ranks=16, bytes=4), less_by(19)),
                   *(Faster(f"block {block} takes as long as block 1025, 4 B to 1 KB", f"RDMA, block {block}", "RDMA, block 1025",
                            at_each(ranks=16, bytes=(4, 64, 256, 1024)), similar=True) for block in KNOWN_BLOCKS[1:])),
           cannot=f"{WIRE}. From where the root begins to where the leaf at the most steps ends, as the paper has it. The sizes of "
                  "two of its four blocks are lost in our copy of the text; 2049 and 4097 are ours.",
           only=(("ranks", (16,)), ("bytes", (4, 64, 256, 1024)))),
    Figure("P2.7", "broadcast of 1 to 5 KB on 16 nodes", "P2 section 6.1.1, figure 7", (BROADCASTS, BROADCAST_MODEL), "bytes",
           log_y=True, model=OF_BROADCAST,
           claims=(Faster("block 3073 over send/receive, 4,608 B", BEST, "send/receive", at_each(ranks=16, bytes=4608), less_by(14)),
                   Faster("block 3073 over send/receive, 4 KB (the abstract)", BEST, "send/receive", at_each(ranks=16, bytes=4096), less_by(14)),
                   Best("block 3073 is best, 2 to 4.5 KB", BEST, tuple(f"RDMA, block {block}" for block in KNOWN_BLOCKS),
                        at_each(ranks=16, bytes=(2048, 3072, 4096, 4608)), network=OVERLAP),
                   Faster("block 3073 over block 1025, 4 KB: fewer writes, less time", BEST, "RDMA, block 1025", at_each(ranks=16, bytes=4096),
                          network=OVERLAP),
                   *(Faster(f"block {block} over send/receive, 4 B to 4.5 KB", f"RDMA, block {block}", "send/receive",
                            at_each(ranks=16, bytes=BROADCASTS.sizes)) for block in KNOWN_BLOCKS)),
           cannot=f"which block is best: {WIRE}. Judged among 1025 and 3073, the sizes that our copy of the text has; 2049 and 4097 are ours.",
           only=(("ranks", (16,)), ("bytes", (1024, 2048, 3072, 4096, 4608))), log_x=False),
    Figure("P2.8", "broadcast on 16 nodes and its model", "P2 section 6.1.1, figure 8", (BROADCASTS, BROADCAST_MODEL), "bytes",
           claims=(Computed("greatest deviation of the model, 4 B to 4 KB", 10, model_error, show="{:.1f} %", most=True,
                            at=at_each(ranks=16, bytes=BROADCASTS.sizes[:-1]), network=WIRE),),
           cannot=f"that both agree within 10 %: {WIRE}.", shown=(BEST, "model"), only=(("ranks", (16,)),), log_y=True,
           model=OF_BROADCAST),
    Figure("P2.9", "broadcast on 512 and 1,024 nodes, by the model", "P2 section 6.1.2, figures 9 and 10",
           (BROADCASTS, BROADCAST_MODEL), "bytes", also=("P2.10",),
           claims=(*(gain_claim(f"RDMA below send/receive, {nodes:,} nodes, {size:,} B, by the model", percent, "broadcast", "model", nodes, size)
                     for nodes in (512, 1024) for size, percent in ((4, 16), (4096, 21))),
                   Computed("RDMA below send/receive, 512 nodes, by the model (section 1)", 20, gain("broadcast", "model", 512, 4096), 1,
                            "{:.0f} %", fitted=SEND_RECEIVE_TIME)),
           cannot=f"the times of 512 nodes, which are the model's. {EXTRAPOLATED}", shown=("model",),
           only=(("ranks", (512, 1024)),), model=OF_BROADCAST),
    Figure("P2.11", "the best degree of allreduce", "P2 section 6.2.1, figure 11", (ALLREDUCES, DEGREE_MODEL), "bytes",
           claims=(degree_claim("4 nodes, up to 1 KB", 4, 1024, 3), degree_claim("4 nodes, above", 4, 1028, 1),
                   degree_claim("8 nodes, 4 B", 8, 4, 7), degree_claim("8 nodes, above 1 KB", 8, 1028, 1),
                   degree_claim("16 nodes, up to 1 KB", 16, 1024, 3), degree_claim("16 nodes, above", 16, 1028, 1),
                   degree_claim("512 nodes, up to 1 KB", 512, 1024, 3), degree_claim("1,024 nodes, above", 1024, 1028, 1),
                   best_degree("4 B to 1 KB", 4, UP_TO_1K, 3), best_degree("2 and 4 KB", 4, ABOVE, 1), best_degree("4 B", 8, (4,), 7),
                   best_degree("2 and 4 KB", 8, ABOVE, 1), best_degree("4 B to 1 KB", 16, UP_TO_1K, 3), best_degree("2 and 4 KB", 16, ABOVE, 1)),
           cannot=f"which degree is best: {STEPS}.", shown=("model", *(f"RDMA, degree {k}" for k in DEGREES)),
           drawn=tuple(f"RDMA, degree {k}" for k in DEGREES), log_y=True, model=OF_ALLREDUCE),
    Figure("P2.12", "allreduce on 16 nodes", "P2 section 6.2.1, figure 12", (ALLREDUCES, ALLREDUCE_MODEL_HERE), "bytes",
           log_y=True, model=OF_ALLREDUCE,
           claims=(Faster("degree 3 over send/receive, 4 B", "RDMA, degree 3", "send/receive, degree 1",
                          at_each(ranks=16, bytes=4), less_by(38)),
                   Faster("degree 1 over send/receive, 4 KB", "RDMA, degree 1", "send/receive, degree 1",
                          at_each(ranks=16, bytes=4096), less_by(9)),
                   Faster("degree 1 over send/receive, all sizes", "RDMA, degree 1", "send/receive, degree 1",
                          at_each(ranks=16, bytes=ALL_SIZES)),
                   Faster("degree 3 over send/receive, 4 B to 1 KB", "RDMA, degree 3", "send/receive, degree 1",
                          at_each(ranks=16, bytes=UP_TO_1K)),
                   Faster("degree 3 over degree 1, 4 B to 1 KB", "RDMA, degree 3", "RDMA, degree 1",
                          at_each(ranks=16, bytes=UP_TO_1K), network=STEPS),
                   *(Computed(f"degree {k} is between the model's best and worst case, 4 B to 4 KB: greatest distance", 0,
                              allreduce_error(k, ALLREDUCES.sizes), show="{:.1f} %", most=True, at=at_each(ranks=16, bytes=ALLREDUCES.sizes),
                              network=WIRE) for k in DEGREES),
                   Computed("degree 15, 512 B: distance from the model's cases", 8, allreduce_error(15, (512,)), show="{:.1f} %", most=True,
                            at=at_each(ranks=16, bytes=512), network=WIRE)),
           cannot=f"where degree 1 takes over from degree 3: {STEPS}.",
           shown=("send/receive, degree 1", "RDMA, degree 1", "RDMA, degree 3", "model, degree 1, best", "model, degree 3, best",
                  "model, degree 3, worst"), only=(("ranks", (16,)),)),
    Figure("P2.13", "allreduce on 512 and 1,024 nodes, by the model", "P2 section 6.2.2, figures 13 and 14",
           (ALLREDUCE_MODEL,), "bytes", also=("P2.14",),
           claims=(gain_claim("below send/receive, 512 nodes, 4 B, at best, by the model", 40, "allreduce", "model, degree 3, best", 512, 4),
                   gain_claim("below send/receive, 512 nodes, 4 B, at worst, by the model", 35, "allreduce", "model, degree 3, worst", 512, 4),
                   gain_claim("below send/receive, 1,024 nodes, 4 B, at best, by the model", 41, "allreduce", "model, degree 3, best", 1024, 4),
                   *(gain_claim(f"below send/receive, {nodes:,} nodes, 4 KB, by the model", 14, "allreduce", "model, degree 1, worst", nodes, 4096)
                     for nodes in (512, 1024))),
           cannot=f"the times of 512 nodes, which are the model's. {EXTRAPOLATED}", model=OF_ALLREDUCE),
)

# Further statements of the text, and why they have no row.
NO_ROWS = (
    ("P2 section 6.1.1: two further block sizes", "our copy of the text has lost them"),
    ("P2 section 3.1: above 5 KB the copy takes longer than an exchange of addresses", "it has no number, and the figures end at 5,000 bytes"),
)
