# SPDX-License-Identifier: Apache-2.0
"""The tables of all claims: the paper's result, the measured one, and the judgement."""
import dataclasses

from papers_figures import catalogue, causes, curves, figure, report, simulated

OTHER_M = "RDMA, M = 8 KB"
HEAD = ["figure", "claim", "paper", "ours", "error in points", "share of the gain", "sign or bound", "met"]


@dataclasses.dataclass
class Counts:
    """The totals of a table; fitted rows and those that were not measured are not included."""
    rows: int = 0
    signs: int = 0
    met: int = 0
    numbers: int = 0
    near: int = 0
    gains: int = 0
    shares: int = 0  # number of gains of which 75 % to 125 % are reproduced
    fitted: int = 0
    unmeasured: int = 0

    def take(self, verdict):
        """Counts a row."""
        if verdict.ours is None:
            self.unmeasured += 1
        elif verdict.fitted:
            self.fitted += 1
        else:
            self.rows += 1
            self.signs += bool(verdict.agrees)
            self.met += bool(verdict.met)
            self.numbers += verdict.points is not None
            self.near += bool(verdict.near)
            self.gains += verdict.gain is not None
            self.shares += verdict.gain is not None and 0.75 <= verdict.gain <= 1.25

    def text(self):
        """The totals as text."""
        fitted = f" {self.fitted} further rows are fitted and count nowhere." if self.fitted else ""
        return report.filled(f"Of {self.rows} rows that count, {self.met} are met; in {self.signs} the sign or the bound agrees. {self.numbers} of them have a number, which "
                f"{self.near} meet within {figure.NEAR} points. {self.gains} of the numbers are gains, and {self.shares} reproduce between three and five "
                f"quarters of theirs.{fitted}")


def cells(one, claim, verdict):
    """A row of a table."""
    yes = "" if verdict.ours is None else "fitted" if verdict.fitted else "yes" if verdict.met else "NO"
    return [one.name, claim.text, verdict.paper, verdict.ours or verdict.why_not, "" if verdict.points is None else f"{verdict.points:+d}",
            "" if verdict.gain is None else f"{100 * verdict.gain:.0f} %", "" if verdict.ours is None else "yes" if verdict.agrees else "NO", yes]


def unmet(results, claim):
    """The times that would meet a missed ratio: computed, so that the text stays true."""
    if not isinstance(claim, figure.Faster) or not claim.paper or claim.bound or claim.similar:
        return ""
    ratios = claim.ratios(results)
    at = claim.at[ratios.index(max(ratios) if claim.most else min(ratios))]
    who = results.row(claim.who, at)
    than = results.row(claim.than(at) if callable(claim.than) else claim.than, at)
    place = ", ".join(f"{value:,} {name}" for name, value in at.items())
    return (f"At {place}, {than.contestant} takes {report.digits(than.value)} us and {who.contestant} {report.digits(who.value)}; by the paper's ratio "
            f"{than.contestant} would take {report.digits(who.value * claim.paper)}.")


def why(one, claim):
    """(cause, command) of a row that misses."""
    return next(((text, command) for names, begin, text, command in causes.WHY if one.name in names and claim.text.startswith(begin)),
                ("The cause is not known.", f"tools/papers {one.name} --virtual"))


def listed(missed):
    """A list of causes, each with the rows that miss because of it."""
    out = []
    for (text, command), rows in missed.items():
        out.append(f"* {text}\n  `{command}`")
        out += [f"  * {name}, {claim.text}. {times}".rstrip() for name, claim, times in rows]
    return "\n".join(out)


def document(found, results, readings):
    """The page of the claims in virtual time."""
    counts, lines, missed = Counts(), [], {}
    for one, machine in found:
        rounded = as_written(one, results[one.name])
        for claim in one.claims:
            verdict = claim.judge(rounded)
            counts.take(verdict)
            clusters = ", ".join(dict.fromkeys(simulated.cluster_at(machine, at["ranks"]) for at in claim.points()))
            line = cells(one, claim, verdict)
            lines.append([*line[:2], clusters, *line[2:], simulated.models(claim, rounded)])
            if verdict.met is False:
                missed.setdefault(why(one, claim), []).append((one.name, claim, unmet(rounded, claim)))
    head = [*HEAD[:2], "cluster", "paper", "simulated", *HEAD[4:], "the paper's models, us"]
    return "\n".join([simulated.BEGIN_TEXT, figure.RULE, "", "## How many claims", "", of_all(found), "", counts.text(), "", "## All rows", "",
                      report.markdown(head, lines, 3), "", "## Causes of the misses", "",
                      "Each has a command that shows the times or what they depend on, and below it the rows that miss by it.", "", listed(missed), "",
                      of_readings(found, results, readings), "", simulated.HISTORY])


def of_all(found):
    """How many claims the papers make, and where they are."""
    def named(one, claim):  # P4's figures share texts; a figure of two clusters has another name here
        return (one.name if one.paper == "P4" else one.paper, claim.text)
    base = catalogue.all_claims(catalogue.all_figures())
    there = {named(one, claim) for one, _ in found for claim in one.claims}
    all_texts = there | {named(one, claim) for one, claim in base}
    rest = [(one, claim) for one, claim in base if named(one, claim) not in there]
    out = catalogue.left_out()
    fitted = [claim for _, claim in rest if claim.fitted]
    names = ", ".join(dict.fromkeys(one.name for one, claim in rest if not claim.fitted))
    text = (f"The sections of results of the five papers make {len(all_texts) + len(out)} claims as they are counted here, a claim about two clusters or two group sizes "
            f"being two. {len(there)} of them are rows of this page. {len(fitted)} are about the papers' models by themselves, and {len(rest) - len(fitted)} about single "
            f"messages, memory, registration, one-sided operations or an application, none of which `chorale-sim` runs, or about other group sizes ({names}): these are "
            f"rows of [the table of `soft0`](../papers.md#measurements) alone. {len(out)} are no rows:")
    return report.filled(text) + "\n\n" + "\n".join(f"* {claim}: {reason}." for claim, reason in out)


def as_written(one, results):
    """Results rounded as in the CSV file, so that a page made from files equals one made from a run."""
    read = report.from_comma_separated(one, report.comma_separated(one, results))
    read.parameters = results.parameters
    return read


def readings_of(found, reading):
    """The [(figure, machine)] of a reading."""
    return [(one, machine) for one, machine in found if one.name in reading.figures]


def run_readings(found, tools, progress, time_limit):
    """{name of a reading: {name of a figure: Results}}"""
    done = {}
    for reading in simulated.READINGS:
        chosen = [(dataclasses.replace(one, set_ups=tuple(set_up for set_up in one.set_ups if isinstance(set_up, figure.Bench))), machine)
                  for one, machine in readings_of(found, reading)]
        points = {one.name: [at for claim in one.claims for at in claim.points() if not reading.only or at["ranks"] in reading.only] for one, _ in chosen}
        done[reading.name] = curves.run(chosen, tools, progress, time_limit, reading.changes, points)
    return done


def write_readings(readings, folder):
    """One CSV file for each figure of a reading."""
    for number, reading in enumerate(simulated.READINGS, 1):
        for one in catalogued(reading):
            (folder / f"{one.name}.reading{number}.csv").write_text(report.comma_separated(one, readings[reading.name][one.name]), encoding="utf-8")


def catalogued(reading):
    """The figures of a reading."""
    return [one for one, _ in readings_of(curves.all_of(catalogue.all_figures()), reading)]


def read(found, folder):
    """(results, readings) of the CSV files of a folder. @throws OSError, ValueError"""
    results = report.read([one for one, _ in found], folder)
    readings = {reading.name: {one.name: report.from_comma_separated(one, (folder / f"{one.name}.reading{number}.csv").read_text(encoding="utf-8"))
                               for one in catalogued(reading)} for number, reading in enumerate(simulated.READINGS, 1)}
    return results, readings


def of_readings(found, results, readings):
    """The results of rows with other values of parameters."""
    lines = []
    for one, claim in [(one, claim) for one, _ in found if one.paper == "P4" for claim in one.claims]:
        rounded = as_written(one, results[one.name])
        now, other = claim.judge(rounded), dataclasses.replace(claim, who=OTHER_M).judge(rounded)
        if other.ours != now.ours:
            lines.append(["P4, M = 8 KB", "", one.name, claim.text, now.paper, now.ours, other.ours, "yes" if other.met else "NO"])
    for reading in simulated.READINGS:
        for one, _ in readings_of(found, reading):
            for claim in one.claims:
                other = claim.judge(as_written(one, readings[reading.name][one.name]))
                now = claim.judge(as_written(one, results[one.name]))
                if other.ours not in (None, now.ours):
                    change = ", ".join(f"`{path}={value:g}`" for path, value in reading.changes)
                    lines.append([reading.name, change, one.name, claim.text, now.paper, now.ours, other.ours, "yes" if other.met else "NO"])
    return "\n".join(["## Other readings", "", "What the rows come to with other values of what a source leaves open, and of what a miss is put down to. Each is made by "
                      "`tools/papers FIGURE --virtual --with PATH=NUMBER`; those with another M of P4 are of the same run as the "
                      "rows above. Rows that come to the same are left out.", "",
                      report.markdown(["reading", "parameters", "figure", "claim", "paper", "as above", "so", "met"], lines, 4)])


@dataclasses.dataclass
class Here:
    """The table of the results measured on this host's device."""
    head: list
    lines: list
    counts: Counts


def here(figures, results):
    """The table of all claims. Skips figures whose measurement is another figure's, and does not judge claims that need a network."""
    counts, lines = Counts(), []
    for one in figures:
        for claim in () if one.twin else one.claims:
            if claim.network:
                lines.append([one.name, claim.text, claim.says(), "", "", "", "", "needs a network: " + claim.network])
            else:
                verdict = claim.judge(results[one.name])
                counts.take(verdict)
                lines.append(cells(one, claim, verdict))
    return Here(HEAD, lines, counts)
