# SPDX-License-Identifier: Apache-2.0
"""What the machine is, as far as it matters to whoever compares figures."""
import os

from measuring.comparison import contestants


def facts(results):
    """[(name, text)] of what programs run on, by what they have written of it."""
    # A rank is bound to a core, and knows of no other that it may use.
    cores = f"{contestants.cores()} of {os.cpu_count()}"
    return [(name, text) for name, text in {**results.machine, "cores": cores}.items() if name != "host"]


def load():
    """How many processes want to run, in the mean."""
    return f"{os.getloadavg()[0]:.2f} (mean of a minute)"


def versions(everyone, results):
    """[(contestant, what its library says about itself)]."""
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
