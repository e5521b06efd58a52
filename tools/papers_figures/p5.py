"""P5: reliable connections and datagrams; RDMA and its emulation."""
from papers_figures.figure import Bench, Contestant, Faster, Figure, Program, at_each, less_by

KB = 1024
EFFORT = ("--check", "--samples", 30, "--warmup", 60, "--iterations", 3000, "--budget", 0.06)
SMALL_EFFORT = ("--check", "--samples", 2, "--warmup", 2, "--iterations", 4, "--budget", 0.002)
# What P5 section 5.1.2 assumes: about a microsecond for a context that the adapter's cache has not, which holds few.
MISSES = (("CHORALE_SOFT_CONTEXT_MISS_NS", 1000), ("CHORALE_SOFT_CONTEXTS", 32))


def points(what, *more, ranks=2, small=(), environment=()):
    """A subcommand of chorale-points; the small form has up to 8 ranks."""
    return Program("chorale-points", (what, *more, *EFFORT), (what, *more, *SMALL_EFFORT, *small), ranks=ranks, small=ranks <= 8,
                   environment=environment)


MEMORY = Program("chorale-resources", ("--ranks", "2,4,8,16,32,64"), ("--ranks", "2,4,8"), once=True)
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

FIGURES = (
    Figure("P5.6a", "memory of connections", "P5 section 5.1.2, figure 6(a)", (MEMORY,), "connections", log_y=True,
           claims=(Faster("more connections, more memory", "RC", "RC", at_each(connections=63), slower=True,
                          than_at=at_each(connections=1)),
                   Faster("datagrams take less than 63 connections", "UD", "RC", at_each(connections=63))),
           cannot="what an adapter takes for a queue pair: its queues are an estimate (docs/resources.md)."),
    Figure("P5.6b", "ping-pong over many queue pairs in turn", "P5 section 5.1.2, figure 6(b)", (QUEUE_PAIRS,), "queue_pairs",
           claims=(Faster("latency has risen at 64 connections from 1", "RC", "RC", at_each(queue_pairs=64), slower=True,
                          than_at=at_each(queue_pairs=1)),
                   Faster("one queue pair of datagrams over 256 connections", "UD", "RC", at_each(queue_pairs=1),
                          than_at=at_each(queue_pairs=256))),
           cannot="what a missed context costs: it is set (CHORALE_SOFT_CONTEXT_MISS_NS=1000, a cache of 32), as P5 estimates it."),
    Figure("P5.6c", "several ranks send to one: concurrent by copies, serial without", "P5 section 5.1.1, figure 6(c)", (FAN_IN,), "bytes",
           log_y=True,
           claims=(Faster("copies, all at a time, over zero copy, one after the other", "concurrent", "serial",
                          at_each(bytes=(4 * KB, 16 * KB, 64 * KB))),),
           cannot=f"transfers that overlap: {COPIES}; {ONE_HOST}."),
    Figure("P5.7a", "direct alltoall by RDMA and by send/receive", "P5 section 5.1.1, figure 7(a)", RDMA_ALLTOALL, "bytes", log_y=True,
           claims=(Faster("RDMA over send/receive, 32 processes, 256 B to 32 KB", "RDMA", "send/receive",
                          at_each(ranks=32, bytes=SHORT_TO_MEDIUM), less_by(38), headline=True),),
           cannot=f"how much: {ONE_HOST}. The text has one number for all sizes. In memory from the device: elsewhere soft0 makes a "
                  "system call for each message, which an adapter does not. \"RDMA, blocks\" copies through registered blocks, as "
                  "Chorale does without a choice."),
    Figure("P5.7b", "hybrid alltoall by number of steps over connections", "P5 section 5.1.2, figure 7(b)", (HYBRID,), "bytes",
           log_y=True,
           claims=(Faster("15 steps over connections over none", "rc-limit 15", "rc-limit 0", at_each(ranks=16, bytes=(4 * KB, 16 * KB))),),
           cannot=f"how much: {ONE_HOST}."),
    Figure("P5.8a", "latency of RC and UD", "P5 section 5.1.2, figure 8(a)", (LATENCY,), "bytes", log_y=True,
           claims=(Faster("RC over UD beyond the MTU", "RC, RDMA", "UD", at_each(bytes=(16 * KB, 64 * KB))),
                   Faster("RC over UD, short messages", "RC, RDMA", "UD", at_each(bytes=4))),
           cannot="that fragments cost an adapter nothing. The MTU is 4,096 bytes, theirs was 2,048."),
    Figure("P5.8b", "bandwidth of RC and UD", "P5 section 5.1.2, figure 8(b)", (BANDWIDTH,), "bytes",
           claims=(Faster("RC over UD beyond the MTU", "RC, RDMA", "UD", at_each(bytes=(16 * KB, 64 * KB))),),
           cannot=f"bandwidth of a wire: {COPIES}. 16 messages at a time, and an answer."),
    Figure("P5.9", "alltoall over UD, over SRQ and by Bruck's algorithm", "P5 section 5.1.2, figure 9", (UD_ALLTOALL,), "bytes",
           log_y=True, only=(("ranks", (32,)),),
           claims=(Faster("direct-UD over Bruck, 32 processes, short messages (37 %)", "direct-UD", "Bruck", at_each(ranks=32, bytes=4),
                          less_by(37), network="n messages of one core beside log n: a host pays for each, an adapter sends them "
                                               "while the host goes on"),
                   Faster("RC over UD for large messages", "direct-SRQ", "direct-UD", at_each(ranks=32, bytes=16 * KB))),
           cannot=f"that n messages cost hardly more than one: {ONE_HOST}."),
    Figure("P5.crossing", "UD and RC where the adapter's cache of contexts is small", "P5 section 5.1.2, figure 9", (CROSSING,), "bytes",
           log_y=True,
           claims=(Faster("UD over RC, short messages (up to twice)", "direct-UD", "direct-RC",
                         at_each(ranks=16, bytes=(4, 16, 64, 256, KB)), 2, most=True),
                   Faster("RC over UD, large messages", "direct-RC", "direct-UD", at_each(ranks=16, bytes=16 * KB))),
           cannot="what a missed context costs: it is set (CHORALE_SOFT_CONTEXT_MISS_NS=1000, a cache of 8 for 16 ranks)."),
    Figure("P5.10a", "RDMA read over RC and emulated over UD, latency", "P5 section 5.1.3, figure 10(a)", (READ, READ_POLLING), "bytes",
           log_y=True,
           claims=(Faster("emulated read of one MTU against RC: more than three times as long", "emulated, event, cached", "RC, cached",
                          at_each(bytes=MTU), 1 / 3, slower=True, headline=True),
                   Faster("woken by events against polling", "emulated, event, cached", "emulated, polling, cached",
                          at_each(bytes=(4, MTU)), slower=True, headline=True),
                   Faster("into memory in the cache over memory that is not", "emulated, polling, cached",
                          "emulated, polling, uncached", at_each(bytes=MTU))),
           cannot="the 8 to 9 us of an event: that of soft0 is a futex or a pipe, and the kernel of a virtual machine."),
    Figure("P5.10b", "RDMA read over RC and emulated over UD, bandwidth", "P5 section 5.1.3, figure 10(b)",
           (READ_RATE, READ_RATE_POLLING), "bytes",
           claims=(Faster("RC over emulated", "RC, cached", "emulated, event, cached", at_each(bytes=(MTU, 64 * KB))),),
           cannot=f"bandwidth of a wire: {COPIES}. 16 reads at a time, by operations of the "
                  "transport: a get of a window is over when it returns."),
    Figure("P5.11a", "RDMA write over RC and emulated over UD, latency", "P5 section 5.1.3, figure 11(a)", (WRITE,), "bytes", log_y=True,
           claims=(Faster("RC over emulated, one MTU", "RC, cached", "emulated, cached", at_each(bytes=MTU)),
                   Faster("into memory in the cache over memory that is not", "emulated, cached", "emulated, uncached",
                          at_each(bytes=MTU))),
           cannot=f"what the cache is spared by RC: {COPIES}, through the cache."),
    Figure("P5.11b", "RDMA write over RC and emulated over UD, bandwidth", "P5 section 5.1.3, figure 11(b)", (WRITE_RATE,), "bytes",
           claims=(Faster("RC over emulated", "RC, cached", "emulated, cached", at_each(bytes=(MTU, 64 * KB))),),
           cannot=f"bandwidth of a wire: {COPIES}. 16 writes at a time, and an answer."),
)
