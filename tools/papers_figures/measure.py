"""From figures to results: what is launched, in turns, and the medians over the runs."""
import collections
import statistics
import sys

from papers_figures import figure, launch


def wanted_points(figures, claims):
    """For each figure the points that these claims look at, or None where everything is wanted."""
    if claims is None:
        return {one.name: None for one in figures}
    points = collections.defaultdict(list)
    for one, claim in claims:
        points[one.name] += claim.points()
    return points


def launches(figures, small=False, ranks=None, points=None):
    """The launches of all set-ups of the figures, each set-up once. `ranks`: instead of theirs. `points`: see
    wanted_points; a set-up is measured at those numbers of ranks and sizes that one of them has."""
    found, benches, seen = [], {}, {}
    for one in figures:
        for set_up in one.set_ups:
            if isinstance(set_up, figure.Program):
                if small and not set_up.small:
                    continue
                arguments = set_up.arguments
                if small and set_up.small_arguments is not None:
                    arguments = set_up.small_arguments
                if (set_up, arguments) not in seen:
                    seen[set_up, arguments] = launch.ProgramLaunch(set_up, arguments)
                    found.append(seen[set_up, arguments])
                continue
            only = None if points is None else points.get(one.name)
            sizes = set_up.small_sizes or set_up.sizes[:1] if small else set_up.sizes
            for number in ranks or (set_up.small_ranks if small else set_up.ranks):
                some = [size for size in sizes
                        if only is None or any(at.get("bytes", size) == size and at.get("ranks", number) == number
                                               for at in only)]
                if only is not None and not some and (
                        set_up.operation != "barrier" or not any(at.get("ranks") == number for at in only)):
                    continue
                key = (number, set_up.environment)
                if key not in benches:
                    benches[key] = launch.BenchLaunch(number, set_up.environment, [])
                    found.append(benches[key])
                parts = benches[key].parts
                same = [part for part in parts if part.set_up == set_up]
                if same:
                    parts.remove(same[0])
                    some = sorted({*some, *same[0].sizes})
                parts.append(launch.Part(set_up, tuple(some)))
    return found


class Progress:
    """"run 2/5, 3/7: 8 ranks: barrier" on one line of standard error, if that is a terminal or it is wanted."""

    def __init__(self, wanted):
        self.terminal = sys.stderr.isatty()
        self.on = wanted or self.terminal

    def say(self, text):
        """Shows a line in place of the one before; an empty one wipes it."""
        if self.on and (text or self.terminal):
            print(f"\r{text[:110]:<110}" if self.terminal else text, end="\r" if self.terminal else "\n",
                  file=sys.stderr, flush=True)


def measure(figures, tools, launcher, effort, runs=5, progress=None, **which):
    """{name of a figure: Results}. Each run makes all launches, one after the other, so that what disturbs the machine
    disturbs all set-ups. What fails, or has wrong results, is among the failures of its figures, and the rest goes on.
    @throws launch.NoLauncher"""
    progress = progress or Progress(False)
    todo = launches(figures, **which)
    values, units, failures = collections.defaultdict(list), {}, []
    for run in range(runs):
        for number, one in enumerate(todo, 1):
            if run > 0 and one.once:
                continue
            progress.say(f"run {run + 1}/{runs}, {number}/{len(todo)}: {one.text()}")
            try:
                found = one.run(tools, launcher, effort)
            except launch.Failed as e:
                failures.append((one.set_ups(), str(e)))
                continue
            for set_up, row in found:
                at = tuple(sorted(row["at"].items()))
                if row.get("wrong"):
                    failures.append(([set_up], f"{one.text()}: {row['contestant']} at {dict(at)}: {row['wrong']} results were wrong"))
                    continue
                values[set_up, row["contestant"], at].append(row["value"])
                units[set_up, row["contestant"], at] = row["unit"]
    progress.say("")
    rows = {key: figure.Row(key[1], key[2], statistics.median(all_of_it), units[key], min(all_of_it), max(all_of_it),
                            len(all_of_it)) for key, all_of_it in values.items()}
    devices = ", ".join(sorted({one.device for one in todo} - {""}))
    return {one.name: figure.Results(
        [row for key, row in rows.items() if key[0] in one.set_ups],
        missing(one, rows, [set_up for failed, _ in failures for set_up in failed]),
        [said for failed, said in failures if any(set_up in failed for set_up in one.set_ups)], devices) for one in figures}


def missing(one, rows, failed):
    """Contestants of a figure that have no row and did not fail: a device without multicast has not what they need."""
    said = []
    for set_up in one.set_ups:
        for contestant in getattr(set_up, "contestants", ()):
            if set_up not in failed and not any(key[0] == set_up and key[1] == contestant.name for key in rows):
                said.append(f"{contestant.name} was not measured: the device has not what it needs, or no point was wanted")
    return said
