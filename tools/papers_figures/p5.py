# SPDX-License-Identifier: Apache-2.0
"""P5: reliable connections and datagrams; RDMA and its emulation."""
from papers_figures.figure import Bench, Computed, Contestant, Faster, Figure, Program, at_each, less_by

KB = 1024
EFFORT = ("--check", "--samples", 30, "--warmup", 60, "--iterations", 3000, "--budget", 0.06)
SMALL_EFFORT = ("--check", "--samples", 2, "--warmup", 2, "--iterations", 4, "--budget", 0.002)
# The assumption of P5 section 5.1.2: about a microsecond for a context that is not in the adapter's small cache.
MISSES = (("CHORALE_SOFT_CONTEXT_MISS_NS", 1000), ("CHORALE_SOFT_CONTEXTS", 32))


def points(what, *more, ranks=2, small=(), environment=()):
    """A subcommand of chorale-points; the small form has up to 8 ranks."""
    return Program("chorale-points", (what, *more, *EFFORT), (what, *more, *SMALL_EFFORT, *small), ranks=ranks, small=ranks <= 8,
                   environment=environment)


MEMORY = Program("chorale-points", ("resources", "--ranks", "2,4,8,16,32,64"), ("resources", "--ranks", "2,4,8"), once=True)
QUEUE_PAIRS = points("queue-pairs", small=("--counts", "1,8,64"), environment=MISSES)
FAN_IN = points("fan-in", ranks=8, small=("--sizes", "4096,65536"))
LATENCY = points("latency", small=("--sizes", "4,4096"))
BANDWIDTH = points("bandwidth", small=("--sizes", "4,4096"))
READ, READ_POLLING = (points("read", *how, small=("--sizes", "4,4096")) for how in ((), ("--polling",)))
READ_RATE, READ_RATE_POLLING = (points("read-bandwidth", *how, small=("--sizes", "4096",)) for how in ((), ("--polling",)))
WRITE = points("write", small=("--sizes", "4,4096"))
WRITE_RATE = points("write-bandwidth", small=("--sizes", "4096",))

SHORT_TO_MEDIUM = (256, KB, 4 * KB, 16 * KB, 32 * KB)
COPIES_ONLY = (("CHORALE_SEND_RECEIVE_LONG", "copy"),)
RDMA_ALLTOALL = tuple(points("alltoall", ranks=ranks, small=("--sizes", "256,32768")) for ranks in (8, 16, 32))
LIMITS = (0, 1, 3, 7, 15)
HYBRID = Bench("alltoall", tuple(Contestant(f"rc-limit {limit}", "hybrid", f"hybrid_pairwise<{limit}>") for limit in LIMITS),
               ranks=(16,), sizes=(KB, 2 * KB, 4 * KB, 8 * KB, 16 * KB, 32 * KB), small_ranks=(4,), small_sizes=(KB,))
UD_ALLTOALL = Bench("alltoall", (Contestant("direct-UD", "ud", "direct"), Contestant("direct-SRQ", "rc_send_receive", "direct", COPIES_ONLY),
                                 Contestant("Bruck", "rc_send_receive", "bruck")),
                    ranks=(16, 32), sizes=(4, 16, 64, 256, KB, 4 * KB, 16 * KB), small_ranks=(4,), small_sizes=(4, 4 * KB))
CROSSING = Bench("alltoall", (Contestant("direct-UD", "ud", "direct"), Contestant("direct-RC", "rc", "direct")), ranks=(16,),
                 sizes=(4, 16, 64, 256, KB, 4 * KB, 16 * KB), small_ranks=(4,), small_sizes=(4,),
                 environment=(("CHORALE_SOFT_CONTEXT_MISS_NS", 1000), ("CHORALE_SOFT_CONTEXTS", 8)))

ONE_HOST = ("the ranks share the cores, so that a call takes the sum of what all ranks do, and what one does while another "
            "waits is not hidden")
COPIES = "soft0 copies where an adapter transfers, on the core of who sends or reads"
MTU = 4 * KB

CACHE = "the cache of contexts and what a miss costs, which are set"
CORES = ("n messages of one core beside log n: a host pays for each, an adapter sends them while the host goes on")
SHORT = (4, 64, 256)


def per_connection(results):
    """The time per connection from 31 to 63 and from 15 to 31: the greater divided by the less."""
    values = [results.value("RC", connections=number) for number in (15, 31, 63)]
    if None in values:
        return None
    steps = ((values[1] - values[0]) / 16, (values[2] - values[1]) / 32)
    return max(steps) / min(steps)


def waking(results):
    """The time that an event adds to a read of 4 bytes, in us."""
    event, polling = (results.value(f"emulated, {how}, cached", bytes=4) for how in ("event", "polling"))
    return None if None in (event, polling) else event - polling


def of_rdma(ranks, percent, bound=False):
    """P5 section 5.1.1 on a number of processes."""
    return Faster(f"RDMA over send/receive, {ranks} processes, 256 B to 32 KB", "RDMA", "send/receive", at_each(ranks=ranks, bytes=SHORT_TO_MEDIUM),
                  less_by(percent), bound=bound)


def of_limits(ranks, sizes):
    """P5 section 5.1.2, figure 7(b)."""
    return tuple(Faster(f"rc-limit {more} over {limit}, {ranks} processes, {sizes[0] // KB} to {sizes[-1] // KB} KB", f"rc-limit {more}",
                        f"rc-limit {limit}", at_each(ranks=ranks, bytes=sizes)) for limit, more in zip(LIMITS, LIMITS[1:]))


def of_transports(ranks):
    """P5 section 5.1.2, figure 9, on a number of processes."""
    def ud_over(than, paper, **more):
        return Faster(f"direct-UD over {than}, {ranks} processes, {more.pop('text', '4 to 256 B')}", "direct-UD", than, at_each(ranks=ranks, bytes=SHORT),
                      paper, network=CORES, **more)
    return (ud_over("Bruck", less_by(37)), ud_over("Bruck", less_by(38), text="4 to 256 B (the abstract)"),
            ud_over("direct-SRQ", 2, text="4 to 256 B, almost double"), ud_over("direct-SRQ", 2, most=True, text="4 to 256 B, up to (the abstract)"),
            Faster(f"direct-SRQ over direct-UD, {ranks} processes, 16 KB", "direct-SRQ", "direct-UD", at_each(ranks=ranks, bytes=16 * KB)))


FIGURES = (
    Figure("P5.6a", "memory of connections", "P5 section 5.1.2, figure 6(a)", (MEMORY,), "connections", log_y=True,
           claims=(Faster("more connections, more memory", "RC", "RC", at_each(connections=63), slower=True,
                          than_at=at_each(connections=1)),
                   Computed("memory grows in proportion to the connections: that of one, greatest by least from 15 to 63", 1.1, per_connection,
                            most=True),
                   Faster("datagrams take less than 63 connections", "UD", "RC", at_each(connections=63))),
           cannot="what an adapter takes for a queue pair: its queues are an estimate (docs/resources.md)."),
    Figure("P5.6b", "ping-pong over many queue pairs in turn", "P5 section 5.1.2, figure 6(b)", (QUEUE_PAIRS,), "queue_pairs",
           claims=(Faster("latency has risen at 32 connections from 1", "RC", "RC", at_each(queue_pairs=32), slower=True,
                          than_at=at_each(queue_pairs=1), fitted=CACHE),
                   Faster("one queue pair of datagrams over 256 connections", "UD", "RC", at_each(queue_pairs=1),
                          than_at=at_each(queue_pairs=256), fitted=CACHE)),
           cannot="what a missed context costs: it is set (CHORALE_SOFT_CONTEXT_MISS_NS=1000, a cache of 32), as P5 estimates it."),
    Figure("P5.6c", "several ranks send to one: concurrent by copies, serial without", "P5 section 5.1.1, figure 6(c)", (FAN_IN,), "bytes",
           log_y=True,
           claims=(Faster("copies, all at a time, over zero copy, one after the other", "concurrent", "serial",
                          at_each(bytes=(4 * KB, 16 * KB, 64 * KB))),),
           cannot=f"transfers that overlap: {COPIES}; {ONE_HOST}."),
    Figure("P5.7a", "direct alltoall by RDMA and by send/receive", "P5 section 5.1.1, figure 7(a)", RDMA_ALLTOALL, "bytes", log_y=True,
           claims=(of_rdma(32, 38),),
           cannot=f"how much: {ONE_HOST}. The text has one number for all sizes. In memory from the device: elsewhere soft0 makes a "
                  "system call for each message, which an adapter does not. \"RDMA, blocks\" copies through registered blocks, as "
                  "Chorale does without a choice."),
    Figure("P5.7b", "hybrid alltoall by number of steps over connections", "P5 section 5.1.2, figure 7(b)", (HYBRID,), "bytes",
           log_y=True,
           claims=of_limits(16, HYBRID.sizes),
           cannot=f"how much: {ONE_HOST}."),
    Figure("P5.8a", "latency of RC and UD", "P5 section 5.1.2, figure 8(a)", (LATENCY,), "bytes", log_y=True,
           claims=(Faster("RC over UD beyond the MTU", "RC, RDMA", "UD", at_each(bytes=(16 * KB, 64 * KB))),
                   Faster("RC over UD, short messages", "RC, RDMA", "UD", at_each(bytes=4))),
           cannot="that fragments cost an adapter nothing. The MTU is 4,096 bytes, theirs was 2,048."),
    Figure("P5.8b", "bandwidth of RC and UD", "P5 section 5.1.2, figure 8(b)", (BANDWIDTH,), "bytes",
           claims=(Faster("bandwidth of RC over UD beyond the MTU", "RC, RDMA", "UD", at_each(bytes=(16 * KB, 64 * KB))),),
           cannot=f"bandwidth of a wire: {COPIES}. 16 messages at a time, and an answer."),
    Figure("P5.9", "alltoall over UD, over SRQ and by Bruck's algorithm", "P5 section 5.1.2, figure 9", (UD_ALLTOALL,), "bytes",
           log_y=True, only=(("ranks", (32,)),),
           claims=of_transports(32),
           cannot=f"that n messages cost hardly more than one: {ONE_HOST}."),
    Figure("P5.crossing", "UD and RC where the adapter's cache of contexts is small", "P5 section 5.1.2, figure 9", (CROSSING,), "bytes",
           log_y=True,
           cannot="what a missed context costs: it is set (CHORALE_SOFT_CONTEXT_MISS_NS=1000, a cache of 8 for 16 ranks)."),
    Figure("P5.10a", "RDMA read over RC and emulated over UD, latency", "P5 section 5.1.3, figure 10(a)", (READ, READ_POLLING), "bytes",
           log_y=True,
           claims=(Faster("an emulated read of one MTU, beside RC", "emulated, event, cached", "RC, cached", at_each(bytes=MTU), 1 / 3, slower=True,
                          bound=True),
                   Faster("woken by events, beside polling, 4 B and one MTU", "emulated, event, cached", "emulated, polling, cached",
                          at_each(bytes=(4, MTU)), slower=True),
                   Computed("what an event adds to a read", 8.5, waking, 0.5, "{:.1f} us",
                            network="the event of soft0 is a futex or a pipe, and the kernel that of a virtual machine"),
                   Faster("from memory in the cache over memory that is not, one MTU", "emulated, polling, cached",
                          "emulated, polling, uncached", at_each(bytes=MTU))),
           cannot="the 8 to 9 us of an event: that of soft0 is a futex or a pipe, and the kernel of a virtual machine."),
    Figure("P5.10b", "RDMA read over RC and emulated over UD, bandwidth", "P5 section 5.1.3, figure 10(b)",
           (READ_RATE, READ_RATE_POLLING), "bytes",
           claims=(Faster("bandwidth of reads over RC over emulated ones", "RC, cached", "emulated, event, cached", at_each(bytes=(MTU, 64 * KB))),),
           cannot=f"bandwidth of a wire: {COPIES}. 16 reads at a time, by operations of the "
                  "transport: a get of a window is over when it returns."),
    Figure("P5.11a", "RDMA write over RC and emulated over UD, latency", "P5 section 5.1.3, figure 11(a)", (WRITE,), "bytes", log_y=True,
           claims=(Faster("RC over emulated, one MTU", "RC, cached", "emulated, cached", at_each(bytes=MTU)),
                   Faster("into memory in the cache over memory that is not, one MTU", "emulated, cached", "emulated, uncached",
                          at_each(bytes=MTU))),
           cannot=f"what the cache is spared by RC: {COPIES}, through the cache."),
    Figure("P5.11b", "RDMA write over RC and emulated over UD, bandwidth", "P5 section 5.1.3, figure 11(b)", (WRITE_RATE,), "bytes",
           claims=(Faster("bandwidth of writes over RC over emulated ones", "RC, cached", "emulated, cached", at_each(bytes=(MTU, 64 * KB))),),
           cannot=f"bandwidth of a wire: {COPIES}. 16 writes at a time, and an answer."),
)

# Further statements of the text, and why they have no row.
NO_ROWS = (
    ("P5 section 5.1.3: emulated writes cost less than emulated reads", "it has no number; figures P5.10a and P5.11a show both"),
    ("P5 section 5.1.2: a missed context takes about 1 us, and 61 messages miss 61 us", "it is a parameter of the simulated cluster, so that it would agree with itself"),
    ("P5 section 5.1.2: of messages of one MTU, RC and UD take almost as long", "on soft0 it is a copy of the same bytes for both, and in virtual time a parameter"),
)
