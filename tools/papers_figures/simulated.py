"""The papers' main claims on their own clusters, in virtual time: chorale-sim on the machines of docs/machines.md."""
import dataclasses

from papers_figures import catalogue, figure, launch, measure, p4, p5, report

BEGIN_TEXT = """# The papers' results in virtual time

Made by `tools/papers --simulated docs/papers/simulated.md`: each claim of the papers that can be tried is measured by `chorale-sim` on the paper's own
cluster (docs/machines.md), by the same set-ups as `tools/papers` measures here. The baselines are Chorale's own algorithms over
send/receive. Machines have parameters of one host and of two, from the papers and from public data; none was changed because of what a
collective operation does here. A ratio is how many times faster the first of a claim is than the second; an error is in points of a
hundredth of it. Times are the same in each run.
"""
KB = 1024
NEAR = 10  # points


def by_ranks(*steps):
    """The machine of so many ranks: the first of ((most, name), ...) that has room."""
    return lambda ranks: next(name for most, name in steps if ranks <= most)


P1_CLUSTERS = by_ranks((8, "infinihost-pcix-8"), (16, "infinihost-pcix-16"))
CLAN = by_ranks((16, "clan2003"))
P4_A = by_ranks((32, "infinihost-pcix-32"))
P4_B = by_ranks((16, "infinihost-pcie-16"))
P5_CLUSTER = by_ranks((64, "infinihost3-ddr-64"))

ZERO_COPY = figure.Contestant("RDMA", "rc", "direct", (("CHORALE_ALLTOALL_ZERO_COPY_BYTES", 1),))
COPIES = figure.Contestant("send/receive", "rc_send_receive", "direct", p5.COPIES_ONLY)
ALLTOALLS = figure.Bench("alltoall", (ZERO_COPY, COPIES), ranks=(32, 64), sizes=p5.SHORT_TO_MEDIUM)
TRANSPORTS = figure.Bench("alltoall", (figure.Contestant("direct-UD", "ud", "direct"), figure.Contestant("direct-SRQ", "rc_send_receive", "direct", p5.COPIES_ONLY),
                                       figure.Contestant("Bruck", "rc_send_receive", "bruck", p5.COPIES_ONLY)),
                          ranks=(61,), sizes=(4, 64, 256, 16 * KB))
LIMITS = figure.Bench("alltoall", tuple(figure.Contestant(f"rc-limit {limit}", "hybrid", f"hybrid_pairwise<{limit}>")
                                        for limit in p5.LIMITS), ranks=(32,), sizes=(4 * KB, 16 * KB))
OF_P5 = (
    figure.Figure("P5.7a", "direct alltoall by RDMA and by send/receive", "P5 section 5.1.1, figure 7(a)", (ALLTOALLS,), "bytes",
                  claims=tuple(figure.Faster(f"RDMA over send/receive, {ranks} processes, up to, 256 B to 32 KB", "RDMA", "send/receive",
                                             figure.at_each(ranks=ranks, bytes=p5.SHORT_TO_MEDIUM), figure.less_by(percent),
                                             most=True, headline=True) for ranks, percent in ((32, 38), (64, 33)))),
    figure.Figure("P5.9", "alltoall over UD and RC, and by Bruck's algorithm", "P5 section 5.1.2, figure 9", (TRANSPORTS,), "bytes",
                  claims=(figure.Faster("direct-UD over Bruck, 61 processes, up to, 4 to 256 B", "direct-UD", "Bruck",
                                        figure.at_each(ranks=61, bytes=(4, 64, 256)), figure.less_by(37), most=True, headline=True),
                          figure.Faster("direct-UD over direct-SRQ, 61 processes, up to, 4 to 256 B", "direct-UD", "direct-SRQ",
                                        figure.at_each(ranks=61, bytes=(4, 64, 256)), 2, most=True, headline=True),
                          figure.Faster("direct-SRQ over direct-UD, 61 processes, 16 KB", "direct-SRQ", "direct-UD",
                                        figure.at_each(ranks=61, bytes=16 * KB), headline=True))),
    figure.Figure("P5.7b", "hybrid alltoall by number of steps over connections", "P5 section 5.1.2, figure 7(b)", (LIMITS,), "bytes",
                  claims=(figure.Faster("15 steps over connections over none, 32 processes, 4 and 16 KB", "rc-limit 15", "rc-limit 0",
                                        figure.at_each(ranks=32, bytes=(4 * KB, 16 * KB)), headline=True),)),
)

# What explains a row that misses, by figure and the beginning of its claim: to be checked by whoever doubts it.
BASELINE = ("the baseline takes each message from a receive queue: {ours} us between two ranks. An MPI of these years may have done better: "
            "{theirs}")
LIU = BASELINE.format(ours="9.0", theirs="7.5 us by RDMA for short messages, 22 % less than by send/receive (Liu et al., ICS 2003, abstract), and "
                      "7.5 by the 6.0 us of RPE is 1.25")
EXPRESS = BASELINE.format(ours="7.3 (PCI-X) and 5.7 (PCI Express)", theirs="4.1 us over PCI Express (Liu et al., IEEE Micro 2005, abstract)")
BLOCK_ORDER = ("a rank of Chorale sends a block to all its children before the next (`down_by_blocks`), the paper's a whole message to one after the "
               "other: so it is with CHORALE_BLOCK_BYTES=5136, 294 instead of 410 us for 4 KB with a barrier before it")
SAME_BYTES = ("both move the same bytes at the rate of bus and link, on cluster A 1,130 us of 2 x 480 KB at 870 MB/s for 32 KB on 16 hosts; a handshake "
              "in each step is all that the baseline adds. The paper names copies, registrations and handshakes, not their shares")
REGISTRATIONS = ("what a page costs to register is an estimate, 0.7 us: the text of P4 figure 4 (b) has no numbers. The baseline registers what it sends "
                 "and receives; that of the paper may have done so more often")
IN_CACHE = ("a copy costs by its own length, so that each of a short message is within the cache at 3.6 GB/s, though all of them are not. With 1.5 GB/s "
            "from the first byte on, as from memory, {then}")
WHY = {
    ("P1.6", "fan-in 7"): "16 hosts make two levels with a fan-in of 3 as of 7 (P1 section 3.3), and 3 messages arrive in turn where 7 do",
    ("P1.7", "RPE"): LIU, ("P1.7", "RDS"): LIU, ("P1.8", "RDS"): LIU, ("P1.9", "RDS"): LIU,
    ("P1.9", "RGM over MPI-DS, up to, 2 to 8"): "seven writes reach the root one after the other, 0.7 us each by an estimate: with 0.25 us RGM takes "
                                                "18.6 instead of 21.7 us on 8 hosts",
    ("P2.7", "block 3073"): BLOCK_ORDER,
    ("P2.12", "degree 1"): "the baseline copies a block of 1 KB while the one before is on the wire, the RDMA reduce has the message in one. With "
                           "CHORALE_SEND_RECEIVE_BLOCK_BYTES=5136 for both it is 551 by 531 us, 1.04",
    **{(f"P4.{part}", f"RDMA over P2P, {ranks} processes, 4 B"): EXPRESS for part, ranks in ((1, 16), (2, 32), (3, 16))},
    **{(f"P4.{part}", "RDMA over P2P"): SAME_BYTES for part in (1, 2, 3)},
    ("P4.5a", "RDMA"): REGISTRATIONS, ("P4.5b", "RDMA"): REGISTRATIONS,
    ("P5.7a", "RDMA"): IN_CACHE.format(then="send/receive takes 132 us for 2 KB on 32 ranks and RDMA 67"),
    ("P5.9", "direct-UD over Bruck"): IN_CACHE.format(then="Bruck takes 103 us for 256 B on 32 ranks and direct-UD 68"),
    ("P5.9", "direct-UD over direct-SRQ"): "fetching contexts takes 40 of the 132 us of direct-SRQ for 4 B, 61 by the paper's account (1 us a message); "
                                           "direct-UD takes 103, as many messages at 1.7 us",
}


# What a message costs in the model of P4: one step of two processes is ts + m tw.
TWO = ({"ranks": 2, "bytes": 4}, {"ranks": 2, "bytes": 256 * KB})


def message_costs(results):
    """ts and tw of two processes on the machine; None if they were not measured."""
    short, long = (results.row("RDMA", at) for at in TWO)
    if short is None or long is None:
        return None
    return {"ts": short.value, "tw": (long.value - short.value) / (TWO[1]["bytes"] - TWO[0]["bytes"])}


def on_machine(set_up):
    """A model whose parameters are measured gets those of the machine."""
    if not getattr(set_up, "fit", None):
        return set_up
    return dataclasses.replace(set_up, fit=dataclasses.replace(set_up.fit, of=p4.ALLGATHERS, compute=message_costs))


def figures():
    """[(figure, machine by ranks)], in the order of the table."""
    on = {"P1": P1_CLUSTERS, "P2": CLAN, "P4.1": P4_A, "P4.2": P4_A, "P4.3": P4_B, "P4.5a": P4_A, "P4.5b": P4_B}
    found = []
    for one in catalogue.all_figures():
        machine = on.get(one.name, on.get(one.paper))
        claims = tuple(claim for claim in one.claims if claim.headline and not isinstance(claim, figure.Computed))
        if machine and claims and any(isinstance(set_up, figure.Bench) for set_up in one.set_ups):
            found.append((dataclasses.replace(one, claims=claims, set_ups=tuple(map(on_machine, one.set_ups))), machine))
    return found + [(one, P5_CLUSTER) for one in OF_P5]


@dataclasses.dataclass
class Simulator(launch.Launcher):
    """chorale-sim in place of chorale-bench under a launcher."""
    machine: object = None  # by ranks

    def words(self, ranks):
        return []

    def bench(self, tools, ranks):
        return [launch.program(tools, "chorale-sim"), "--machine", self.machine(ranks), "--ranks", str(ranks)]


EFFORT = launch.Effort(samples=1, warmup=2, iterations=4, budget=60)


def run(tools, progress, time_limit):
    """[(figure, machine by ranks, Results)]."""
    done = []
    for one, machine in figures():
        points = measure.wanted_points([one], [(one, claim) for claim in one.claims])
        if any(getattr(set_up, "fit", None) for set_up in one.set_ups):
            points[one.name] += TWO
        results = measure.measure([one], tools, Simulator(time_limit=time_limit, machine=machine), EFFORT, 1, progress, points=points)
        done.append((one, machine, results[one.name]))
    return done


def error(claim, verdict):
    """Points between both ratios, with their sign; empty where the paper has no number."""
    if verdict.ours is None or not isinstance(getattr(claim, "paper", None), (int, float)):
        return ""
    return f"{100 * (float(verdict.ours.rstrip('x')) - claim.paper):+.0f}"


def models(claim, results):
    """What the models of the paper say of the time of `who`, beside the simulated one; empty where there is no model."""
    at = claim.points()[0]
    simulated = results.row(getattr(claim, "who", ""), at)
    said = [f"{row.contestant} {report.digits(row.value)}" for row in results.rows
            if row.contestant.startswith(("model", "T_")) and set(at.items()) <= set(row.at)
            and degree(row.contestant) in (None, degree(getattr(claim, "who", "")))]
    if not said or simulated is None or len(claim.points()) > 1:
        return ""
    return f"{', '.join(said)}; simulated {report.digits(simulated.value)} us"


def degree(name):
    """The 3 of "model, degree 3, best"; None if there is none."""
    return name.split("degree ")[1].split(",")[0] if "degree " in name else None


def why(one, claim, off, agrees):
    """Why a row misses, as far as it is known; nothing for one that does not."""
    if agrees and (not off or abs(int(off)) <= NEAR):
        return ""
    return next((text for (name, begin), text in WHY.items() if name == one.name and claim.text.startswith(begin)), "")


def table(done):
    """(head, lines, how many have a number, are near, have the right sign, are there at all)."""
    lines, numbers, near, right, all_of_them = [], 0, 0, 0, 0
    for one, machine, results in done:
        for claim in one.claims:
            verdict = claim.judge(results)
            off = error(claim, verdict)
            all_of_them += 1
            right += bool(verdict.agrees)
            numbers += bool(off)
            near += bool(off) and abs(int(off)) <= NEAR
            clusters = ", ".join(dict.fromkeys(machine(at["ranks"]) for at in claim.points()))
            lines.append([one.name, verdict.text, clusters, verdict.paper, verdict.ours or "not measured", off,
                          "" if verdict.ours is None else "yes" if verdict.agrees else "NO", models(claim, results), why(one, claim, off, verdict.agrees)])
    head = ["figure", "claim", "machine", "paper", "simulated", "error", "sign agrees", "the paper's models, us", "if it misses"]
    return head, lines, (numbers, near, right, all_of_them)


def document(done):
    """The Markdown file."""
    head, lines, (numbers, near, right, all_of_them) = table(done)
    told = (f"Of {all_of_them} claims {right} have the right sign; of {numbers} with a number {near} are within {NEAR} points of it.\n")
    return "\n".join([BEGIN_TEXT, told, report.markdown(head, lines, 4)]) + "\n"
