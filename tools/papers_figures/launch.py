# SPDX-License-Identifier: Apache-2.0
"""Programs under a launcher: one launch measures all set-ups that have the same number of ranks."""
import dataclasses
import json
import os
import pathlib
import shutil
import tempfile

from measuring import process
from papers_figures import figure


class Failed(Exception):
    """A program failed, or its results were wrong."""


class NoLauncher(Exception):
    """There is no launcher to start several ranks."""


@dataclasses.dataclass(frozen=True)
class Effort:
    """The effort of measuring a set-up in one run."""
    samples: int
    warmup: int
    iterations: int
    budget: float  # seconds for a contestant at one size

    def options(self):
        """The options of chorale-bench."""
        return ["--samples", str(self.samples), "--warmup", str(self.warmup), "--iterations", str(self.iterations),
                "--budget", str(self.budget)]


WHOLE = Effort(samples=30, warmup=60, iterations=3000, budget=0.06)
SMALL = Effort(samples=2, warmup=2, iterations=4, budget=0.002)


@dataclasses.dataclass
class Launcher:
    """`template`: the command of a launcher with {ranks} in it, or "none"; None: Open MPI's mpirun, if installed."""
    template: str = None
    time_limit: float = 300
    apart = False  # whether each contestant is launched separately at each size

    def words(self, ranks):
        """The command prefix that starts the ranks. @throws NoLauncher"""
        if self.template == "none":
            raise NoLauncher("--launcher none, so that nothing starts several ranks")
        if self.template:
            words = [word.replace("{ranks}", str(ranks)) for word in self.template.split()]
        else:
            words = ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-n", str(ranks), "--bind-to",
                     "core" if ranks <= len(os.sched_getaffinity(0)) else "none"]
        if shutil.which(words[0]) is None:
            raise NoLauncher(f"there is no {words[0]} to start {ranks} ranks; --launcher takes another, with {{ranks}} "
                             "where their number belongs")
        return words

    def bench(self, tools, ranks):
        """The command of chorale-bench for a number of ranks."""
        del ranks  # the launcher's option has it
        return [program(tools, figure.LAUNCHED)]

    def run(self, ranks, command, environment=()):
        """Runs `command` on `ranks` ranks; without a launcher if that is 0. @throws Failed, NoLauncher"""
        command = [*(self.words(ranks) if ranks else []), *command]
        try:
            process.run_named(command, {**process.environment(), **{name: str(value) for name, value in environment}}, self.time_limit)
        except process.Refused as e:
            raise Failed(str(e)) from e


def program(tools, name):
    """The path of a program of the build. @throws Failed"""
    path = pathlib.Path(tools) / name
    if not path.is_file():
        raise Failed(f"{path} is not built (--build names the folder of a build)")
    return str(path)


def read(result):
    """The document of a result. @throws Failed"""
    try:
        return json.loads(result.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise Failed(f"no result was written: {e}") from e


@dataclasses.dataclass(frozen=True)
class Part:
    """The part of a set-up that one launch measures."""
    set_up: object
    sizes: tuple = ()


@dataclasses.dataclass
class BenchLaunch:
    """A launch of chorale-bench on a number of ranks."""
    ranks: int
    environment: tuple
    parts: list
    device: str = ""  # known after the run
    once = False
    set_up = None  # it has several set-ups

    def text(self):
        """A description for the progress line."""
        return f"{self.ranks} ranks: " + ", ".join(sorted({part.set_up.operation for part in self.parts}))

    def set_ups(self):
        """The set-ups that it measures."""
        return [part.set_up for part in self.parts]

    def run(self, tools, launcher, effort):
        """[(set-up, row document)]. @throws Failed, NoLauncher"""
        if not launcher.apart:
            return self.run_together([(part, part.set_up.contestants) for part in self.parts], tools, launcher, effort)
        return [row for part in self.parts for one in part.set_up.contestants for size in part.sizes or (None,)
                for row in self.run_together([(Part(part.set_up, () if size is None else (size,)), (one,))], tools, launcher, effort)]

    def run_together(self, some, tools, launcher, effort):
        """Runs parts in one launch. `some`: [(part, its contestants in this launch)]."""
        with tempfile.TemporaryDirectory() as folder:
            plan, result = pathlib.Path(folder) / "set-ups.json", pathlib.Path(folder) / "result.json"
            named = {f"{part.set_up.operation} {number}": (part, contestants) for number, (part, contestants) in enumerate(some, 1)}
            plan.write_text(json.dumps({"set_ups": [
                dataclasses.replace(part.set_up, contestants=contestants).document(name, part.sizes)
                for name, (part, contestants) in named.items()]}), encoding="utf-8")
            launcher.run(self.ranks, [*launcher.bench(tools, self.ranks), "--set-ups", str(plan), "--check", "--json",
                                      str(result), *effort.options()], self.environment)
            rows, told = [], read(result)
            self.device = told.get("about", {}).get("device", "").split(" ")[0]
            for row in told["rows"]:
                at = {"ranks": self.ranks}
                if row["operation"] != "barrier":
                    at["bytes"] = row["bytes"]
                rows.append((named[row["set_up"]][0].set_up,
                             {"contestant": row["contestant"], "at": at, "value": row["median"], "unit": "us",
                              "wrong": row["wrong_ranks"]}))
            return rows


@dataclasses.dataclass
class ProgramLaunch:
    """A launch of another program."""
    set_up: object
    arguments: tuple
    device = ""

    @property
    def once(self):
        """Whether further runs would give the same results."""
        return self.set_up.once

    def text(self):
        """A description for the progress line."""
        return " ".join([self.set_up.name, *map(str, self.arguments)])

    def set_ups(self):
        """The set-ups that it measures."""
        return [self.set_up]

    def run(self, tools, launcher, effort):
        """[(set-up, row document)]. @throws Failed, NoLauncher"""
        del effort  # its arguments have it
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder) / "result.json"
            launcher.run(self.set_up.ranks, [program(tools, self.set_up.name), *map(str, self.arguments), "--json",
                                             str(result)], self.set_up.environment)
            return [(self.set_up, row) for row in read(result)["rows"]]
