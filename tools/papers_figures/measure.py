# SPDX-License-Identifier: Apache-2.0
"""From figures to results: the launches in turn, and the medians over the runs."""
import collections
import dataclasses
import statistics
import sys

from papers_figures import figure, launch


def wanted_points(figures, claims):
    """{name of a figure: the points that these claims refer to}; None instead of points: all."""
    if claims is None:
        return {one.name: None for one in figures}
    points = collections.defaultdict(list)
    for one, claim in claims:
        points[one.name] += claim.points()
    return points


def all_set_ups(one):
    """The set-ups of a figure, and those from which the parameters of its models are computed."""
    for set_up in one.set_ups:
        if isinstance(set_up, figure.Program) and set_up.fit:
            yield set_up.fit.of
        yield set_up


def arguments_of(program, small, ranks):
    """The arguments of a program."""
    chosen = program.small_arguments if small and program.small_arguments is not None else program.arguments
    if ranks and program.follows_ranks:
        at = chosen.index("--ranks") + 1
        chosen = (*chosen[:at], ",".join(map(str, ranks)), *chosen[at + 1:])
    return chosen


def launches(figures, small=False, ranks=None, points=None):
    """The launches of all set-ups of the figures, without duplicates. `ranks`: replaces those of the set-ups. `points`: see wanted_points; a
    set-up is measured at those of its ranks and sizes that belong to a wanted point."""
    found, benches, seen = [], {}, {}
    for one in figures:
        for set_up in all_set_ups(one):
            if isinstance(set_up, figure.Program):
                if small and not set_up.small:
                    continue
                arguments = arguments_of(set_up, small, ranks)
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
    """Progress such as "run 2/5, 3/7: 8 ranks: barrier" on standard error; one line if that is a terminal, else only if `wanted`."""

    def __init__(self, wanted):
        self.terminal = sys.stderr.isatty()
        self.on = wanted or self.terminal

    def say(self, text):
        """Replaces the shown line; empty text erases it."""
        if self.on and (text or self.terminal):
            print(f"\r{text[:110]:<110}" if self.terminal else text, end="\r" if self.terminal else "\n",
                  file=sys.stderr, flush=True)


class Gathered:
    """The results of the launches so far."""

    def __init__(self):
        self.values = collections.defaultdict(list)  # by set-up, contestant and point
        self.units = {}
        self.failures = []  # [(set-ups, description)]

    def take(self, one, tools, launcher, effort):
        """Runs a launch. @throws launch.NoLauncher"""
        try:
            found = one.run(tools, launcher, effort)
        except launch.Failed as e:
            self.failures.append((one.set_ups(), str(e)))
            return
        for set_up, row in found:
            at = tuple(sorted(row["at"].items()))
            if row.get("wrong"):
                self.failures.append(([set_up], f"{one.text()}: {row['contestant']} at {dict(at)}: "
                                                f"{row['wrong']} results were wrong"))
                continue
            self.values[set_up, row["contestant"], at].append(row["value"])
            self.units[set_up, row["contestant"], at] = row["unit"]

    def rows(self, set_ups):
        """The medians of these set-ups."""
        return [figure.Row(key[1], key[2], statistics.median(all_of_it), self.units[key], min(all_of_it), max(all_of_it),
                           len(all_of_it)) for key, all_of_it in self.values.items() if key[0] in set_ups]


def measure(figures, tools, launcher, effort, runs=5, progress=None, **which):
    """{name of a figure: Results}. Each run makes all launches one after another, so that disturbances affect all set-ups alike; models
    with parameters computed from the results follow at the end. Failures and wrong results are recorded in the failures of their figures, and do
    not stop the others. @throws launch.NoLauncher"""
    progress = progress or Progress(False)
    todo = launches(figures, **which)
    fitted = [one for one in todo if getattr(one.set_up, "fit", None)]
    gathered, parameters = Gathered(), {}
    for run in range(runs):
        for number, one in enumerate(todo, 1):
            if one not in fitted and not (run > 0 and one.once):
                progress.say(f"run {run + 1}/{runs}, {number}/{len(todo)}: {one.text()}")
                gathered.take(one, tools, launcher, effort)
    for one in fitted:
        fit = one.set_up.fit
        parameters[one.set_up] = fit.compute(figure.Results(gathered.rows([fit.of])))
        if parameters[one.set_up] is None:
            gathered.failures.append(([one.set_up], f"{one.text()}: what its parameters follow from was not measured"))
            continue
        given = [word for option, name in fit.options for word in (option, f"{parameters[one.set_up][name]:.6g}")]
        gathered.take(dataclasses.replace(one, arguments=(*one.arguments, *given)), tools, launcher, effort)
    progress.say("")
    devices = ", ".join(sorted({one.device for one in todo} - {""}))
    return {one.name: figure.Results(
        gathered.rows(one.set_ups), missing(one, gathered),
        [said for failed, said in gathered.failures if any(set_up in failed for set_up in all_set_ups(one))], devices,
        {name: value for set_up in one.set_ups for name, value in (parameters.get(set_up) or {}).items()}) for one in figures}


def missing(one, gathered):
    """Contestants of a figure without rows that did not fail, for instance because the device has no multicast."""
    said = []
    failed = [set_up for some, _ in gathered.failures for set_up in some]
    for set_up in one.set_ups:
        for contestant in getattr(set_up, "contestants", ()):
            if set_up not in failed and not any(key[0] == set_up and key[1] == contestant.name for key in gathered.values):
                said.append(f"{contestant.name} was not measured: the device lacks what it needs, or no point was selected")
    return said
