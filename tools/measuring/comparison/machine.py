# SPDX-License-Identifier: Apache-2.0
"""The facts about the machine that matter for a comparison of figures."""
import os

from measuring.comparison import contestants


def facts(results):
    """[(name, text)] of the machine, as the programs have reported it."""
    # Each rank is bound to a core, and reports only that.
    cores = f"{contestants.cores()} of {os.cpu_count()}"
    return [(name, text) for name, text in {**results.machine, "cores": cores}.items() if name != "host"]


def load():
    """The load average: the number of processes that want to run."""
    return f"{os.getloadavg()[0]:.2f} (mean of a minute)"


def versions(everyone, results):
    """[(contestant, the description of its library)]."""
    told = []
    for one in everyone:
        library = dict(results.facts.get(one.name, {}))
        for of_a_run in ("ranks", "waiting"):
            library.pop(of_a_run, None)
        version = library.pop("MPI", None)
        words = [version] if version else [f"{name} {value}" for name, value in library.items()]
        options = f"; launcher's options: {' '.join(one.library.options)}" if one.library.options else ""
        told.append((one.name, (", ".join(words) or "unknown, since no run has ended well") + options))
    return told
