"""The rounds as a picture and as a page, drawn by chorale-bench as it draws its own results."""
import json
import pathlib
import statistics
import subprocess
import tempfile

from measuring import programs
from measuring.comparison import contestants

TIME_LIMIT = 300  # seconds


def documents(chosen, results, told):
    """{name: a result as chorale-bench writes it}, one for each number of ranks: contestants as algorithms, rounds as samples."""
    made = {}
    for ranks in chosen.ranks:
        rows = []
        for (point, name), values in results.samples.items():
            if point.ranks == ranks and results.why_left_out(point, name) is None:
                middle, least, most = statistics.median(values), min(values), max(values)
                rows.append({"operation": point.operation, "algorithm": name, "transport": "", "bytes": point.bytes, "median": middle,
                             "p10": least, "p90": most, "p99": most, "min": least, "max": most, "wall": middle,
                             "samples": len(values), "calls": 1})
        about = {"made by": chosen.command, "bars": f"least to most of {chosen.rounds} rounds"}
        if contestants.measure(ranks) == "wall":
            about["times"] = "with the barrier before each call, since ranks outnumber cores"
        made[f"{ranks}-ranks"] = {"about": about, "machine": dict(told), "ranks": ranks, "unit": "us", "rows": rows}
    return made


def draw(chosen, results, told):
    """Writes what --plot and --report ask for. @returns what went wrong, empty if nothing did."""
    with tempfile.TemporaryDirectory(prefix="measure-") as folder:
        command = [programs.program(chosen.build, "chorale-bench")]
        for name, document in documents(chosen, results, told).items():
            file = pathlib.Path(folder) / f"{name}.json"
            file.write_text(json.dumps(document), encoding="utf-8")
            command += ["--from", str(file)]
        asked = [(option, file) for option, file in (("--plot", chosen.plot), ("--report", chosen.report)) if file]
        for option, file in asked:
            command += [option, str(pathlib.Path(file).absolute())]
        options = " ".join(option for option, _ in asked)
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        except (OSError, subprocess.TimeoutExpired) as e:
            return f"{options}: {e}"
    return f"{options}: {' '.join(done.stderr.split())}" if done.returncode != 0 else ""
