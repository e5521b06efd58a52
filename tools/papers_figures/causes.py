# SPDX-License-Identifier: Apache-2.0
"""Why rows miss: (figures, beginning of the claim, cause, command). The times in question are computed, and follow the cause."""


def virtual(figures, *changes):
    """A command that shows figures with other values of parameters."""
    return f"tools/papers {figures} --virtual" + "".join(f" --with {change}" for change in changes)


GATHER = ("RGM is a write and a multicast, beside which there is only what a gather adds for each further child. The adapter is taken 0.7 us by each message that it receives, "
          "an estimate from the message rate of its first firmware, and the processor by what the library does with each. The command takes that away.")
FOLD = ("On 3, 6 and 7 nodes the claim holds. On 5 nodes only one rank folds: in the mean over all ranks, and over barriers that follow each other as in the paper, its "
        "further message does not show.")
NO_GAP = ("adapter.receiving.gap=0", "host.look=0", "host.receive=0")
HANDSHAKES = ("RDMA and P2P move the same bytes. What P2P takes more are the handshakes of its steps, three messages each, since registrations are found in the cache. By the "
              "paper's ratio each step would take several times as long as its messages do. What else takes time there the paper does not say. The command has messages "
              "whose matching costs six times as much.")
REGISTRATIONS = ("Without reuse each step of P2P registers a block, 90 us (P4 section 3.4) and an estimate for each page, since the text of figure 4 (b) has no numbers. "
                 "The command has another price of a registration.")
CONTEXTS = ("How often contexts are fetched, and for how long the adapter is taken by it, decides between connections and datagrams; P5 leaves both open. A longer stall brings UD "
            "over direct-SRQ to the paper's number and takes RDMA over send/receive away from it, since both sides of that have as many connections and RDMA's other work is "
            "less: the other readings below show that no value meets both. The command has the longest.")
EXCHANGE = ("Before it writes, RDMA has log2 n small messages, by which the ranks tell that they are in the call, and it waits for n - 1 completions of writes; send/receive has copies, "
            "which cost little at 256 B. From 4 KB on the ratio is near the paper's or above it, which says \"small to medium messages\" and no sizes. The command takes away "
            "what the ranks' contexts cost.")
WHY = (
    (("P1.6",), "fan-in 7", "16 hosts make two levels with a fan-in of 3 as of 7 (P1 section 3.3), and then 3 messages arrive in turn where 7 do. The text does not "
                            "say on how many hosts 7 is best.", virtual("P1.6")),
    (("P1.7c", "P1.8a", "P1.8c", "P1.9a", "P1.9c"), "RGM", GATHER, virtual("P1.7 P1.8 P1.9", *NO_GAP)),
    (("P1.8a",), "MPI-PE on 3", FOLD, virtual("P1.8")),
    (("P1.8a",), "RPE on 3", FOLD, virtual("P1.8")),
    (("P4.1", "P4.2", "P4.3"), "RDMA over P2P", HANDSHAKES, virtual("P4.1 P4.2 P4.3", "host.match=10000")),
    (("P4.5a",), "RDMA", REGISTRATIONS, virtual("P4.5a", "adapter.registration.call=180", "adapter.registration.end_call=90")),
    (("P4.5b",), "RDMA", REGISTRATIONS, virtual("P4.5b", "adapter.registration.call=72", "adapter.registration.end_call=36")),
    (("P2.8",), "greatest", "The formula counts two copies of the message in each step (2 Tc). The text says that a rank copies after it has passed the message on, and so does the "
                            "simulation, where only the last rank's copy is waited for. The command makes copies half as fast.", virtual("P2.8", "host.copy.0.rate=185")),
    (("P2.9",), "RDMA", "The paper measures neither side: it compares its model with log2 N times a time of send/receive between two nodes, which by its gains is 77 us for 4 KB. The "
                        "simulation has whole trees of both: send/receive takes less than that, and RDMA more than the model says, which has no acknowledgement of a block. The "
                        "command takes the acknowledgement away from both. That brings RDMA nearer to the model, and saves send/receive more, since it has more messages.",
     virtual("P2.9", "adapter.sending.alone.acknowledgement=0")),
    (("P2.11", "P2.13"), "degree 1 ", "Degree 3 saves steps, and loses nothing by its three operands, since each is combined while the next one arrives. The paper says that "
                                     "the operations become very expensive, without a number. The command has combining so slow that degree 1 wins.",
     virtual("P2.11", "host.combine.0.rate=50")),
    (("P2.12",), "degree 3 over send/receive, 4 B", "A message of send/receive costs the library and the adapter more on the receiver's side, of which P2 gives the sender's alone: "
                                                   "1.3 us for matching and freeing and 0.6 us for a receive request are estimates. The command takes the first away.",
     virtual("P2.12", "host.receive=0")),
    (("P2.12",), "degree", "At 4 KB the simulated time is above both cases, since the library copies a message in and out in each step, where the model has two copies in the whole "
                           "operation. For few bytes and degree 15 it is below the best case, in which the start-ups of all senders follow each other and the sender's own (P3 "
                           "figure 6.16); the simulated adapters have them overlap. For degree 1 best and worst case are one number, so that any difference counts. The "
                           "command takes the copies away.", virtual("P2.12", "host.copy.0.rate=1000000")),
    (("P5.9",), "direct-UD over Bruck", "A message of direct-UD takes the processor more than a microsecond: posting it, taking it from its queue, giving the buffer back, copies, and the protocol "
                                        "that makes streams of datagrams. n - 1 of them are the time of the operation. Bruck has log n steps, of little data for a few bytes, so "
                                        "that the claim is furthest at 4 bytes. The command takes the work on requests and completions away.",
     virtual("P5.9", "adapter.posting.request=0", "adapter.posting.address=0", "adapter.posting.doorbell=0", "adapter.posting.receive=0", "adapter.posting.completion=0")),
    (("P5.9",), "", CONTEXTS, virtual("P5.9", "adapter.contexts.stall=1")),
    (("P5.7a",), "", EXCHANGE, virtual("P5.7a", "adapter.contexts.miss=0", "adapter.contexts.stall=0")),
)
