"""The papers' main claims on their own clusters, in virtual time: chorale-sim on the machines of docs/machines.md."""
import dataclasses

from papers_figures import catalogue, figure, launch, measure, p4, p5, report

BEGIN_TEXT = """# The papers' results in virtual time

Made by `tools/papers --simulated docs/papers/simulated.md`: each claim of the papers that can be tried is measured by `chorale-sim` on the paper's own
cluster (docs/machines.md), by the same set-ups as `tools/papers` measures here. The baselines are Chorale's own algorithms over
send/receive, those of P1 and P4 with short messages by RDMA write as in MVAPICH (`CHORALE_SEND_RECEIVE_EAGER`). Machines have parameters of one host
and of two, from the papers and from public data; none was changed because of what a collective operation does here. A ratio is how many times faster
the first of a claim is than the second; an error is in points of a hundredth of it. Times are the same in each run.
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
                                             most=True, over=bound, headline=True)
                               for ranks, percent, bound in ((32, 38, False), (64, 33, True)))),
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
GATHER = ("{what}; a write and a multicast take 15.6 us before anything else, 6.0 here and 9.6 by P1 section 2.1.3, so that there is no more than {most} "
          "to be had. The gather adds 0.7 us for each further child, an estimate of how long an adapter is taken by a message, and the library 0.7 us")
HANDSHAKES = ("both move the same bytes; by the paper's number each of the ring's {steps} steps takes {theirs} us more than recursive doubling, {ours} here: "
              "three messages of a handshake, while registrations are found in the cache. What else takes time the paper does not say")
REGISTRATIONS = ("each of the ring's {steps} steps registers a block, 90 us (P4 section 3.4) and 0.7 us a page by an estimate, since the text of figure 4 (b) has "
                 "no numbers, and gives one up: {ours} us a step more than with reuse; by the paper's number {theirs}")
WHY = {
    ("P1.6", "fan-in 7"): "16 hosts make two levels with a fan-in of 3 as of 7 (P1 section 3.3), and 3 messages arrive in turn where 7 do. The text does "
                          "not say on how many hosts 7 is best",
    ("P1.7", "RGM over MPI-PE, 16"): GATHER.format(what="MPI-PE takes four messages of 7.7 us", most="1.43 with the second level, 6.0 us,"),
    ("P1.8", "RGM"): GATHER.format(what="MPI-PE takes four messages of 7.4 us on 7 hosts", most="1.89"),
    ("P1.9", "RGM"): GATHER.format(what="MPI-DS takes three messages of 7.4 us on 5 to 8 hosts (7.5 between two: Liu et al., ICS 2003, abstract)",
                                   most="1.43"),
    ("P4.1", "RDMA over P2P, 16 processes, 32 KB"): HANDSHAKES.format(steps=15, theirs=24, ours=13),
    ("P4.2", "RDMA over P2P, 32 processes, 32 KB"): HANDSHAKES.format(steps=31, theirs=34, ours=16),
    ("P4.3", "RDMA over P2P, 16 processes, 256 KB"): HANDSHAKES.format(steps=15, theirs=74, ours=14),
    ("P4.5a", "RDMA"): REGISTRATIONS.format(steps=31, ours=147, theirs=338),
    ("P4.5b", "RDMA"): REGISTRATIONS.format(steps=15, ours=152, theirs=119),
    ("P5.9", "direct-UD over Bruck"): "a message of direct-UD takes 1.7 us of the processor for 256 B and 1.4 us for 4 B: 0.3 us in posting it, 0.6 us in taking it "
                                      "from its queue and giving the buffer back, two copies and the protocol of streams. 0.1 us less would be within 10 points",
    ("P5.9", "direct-UD over direct-SRQ"): "fetching contexts takes some 40 of the 140 us of direct-SRQ for 4 B, 61 by the paper's account (1 us a message): with "
                                           "61 it would be 1.95",
}


# What a message costs in the model of P4: one step of two processes is ts + m tw.
TWO = ({"ranks": 2, "bytes": 4}, {"ranks": 2, "bytes": 256 * KB})


def message_costs(results):
    """ts and tw of two processes on the machine; None if they were not measured."""
    short, long = (results.row("RDMA", at) for at in TWO)
    if short is None or long is None:
        return None
    return {"ts": short.value, "tw": (long.value - short.value) / (TWO[1]["bytes"] - TWO[0]["bytes"])}


# MVAPICH, which P1 and P4 compare with, has written short messages into rings since 2003: Liu et al., ICS 2003.
BY_WRITE = (("CHORALE_SEND_RECEIVE_EAGER", "rdma_write"),)


def as_mvapich(set_up):
    """A bench whose baselines send short messages as MVAPICH did."""
    if not isinstance(set_up, figure.Bench):
        return set_up
    return dataclasses.replace(set_up, contestants=tuple(
        dataclasses.replace(one, settings=one.settings + BY_WRITE) if one.transport == "rc_send_receive" else one
        for one in set_up.contestants))


def on_machine(set_up):
    """A model whose parameters are measured gets those of the machine."""
    if not getattr(set_up, "fit", None):
        return set_up
    return dataclasses.replace(set_up, fit=dataclasses.replace(set_up.fit, of=as_mvapich(p4.ALLGATHERS), compute=message_costs))


CLUSTERS = {"P1": P1_CLUSTERS, "P2": CLAN, "P4.1": P4_A, "P4.2": P4_A, "P4.3": P4_B, "P4.4a": P4_A, "P4.5a": P4_A, "P4.5b": P4_B}


def cluster_of(one):
    """The machine of a figure by ranks; None if the paper's has none."""
    return CLUSTERS.get(one.name, CLUSTERS.get(one.paper))


def set_ups_on_cluster(one):
    """The set-ups of a figure as the paper had them."""
    return tuple(map(on_machine, map(as_mvapich, one.set_ups) if one.paper in ("P1", "P4") else one.set_ups))


def figures():
    """[(figure, machine by ranks)], in the order of the table."""
    found = []
    for one in catalogue.all_figures():
        machine = cluster_of(one)
        claims = tuple(claim for claim in one.claims if claim.headline and not isinstance(claim, figure.Computed))
        if machine and claims and any(isinstance(set_up, figure.Bench) for set_up in one.set_ups):
            found.append((dataclasses.replace(one, claims=claims, set_ups=set_ups_on_cluster(one)), machine))
    return found + [(one, P5_CLUSTER) for one in OF_P5]


@dataclasses.dataclass
class Simulator(launch.Launcher):
    """chorale-sim in place of chorale-bench under a launcher."""
    machine: object = None  # by ranks
    # Each communicator has connections and mailboxes of its own, and time is the same whoever else is measured.
    apart_beyond = 128

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
    """Points between both ratios, with their sign; none where the paper's is a bound that is met; empty where it has no number."""
    if verdict.ours is None or not isinstance(getattr(claim, "paper", None), (int, float)):
        return ""
    if getattr(claim, "over", False) and float(verdict.ours.rstrip("x")) >= claim.paper:
        return "+0"
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
