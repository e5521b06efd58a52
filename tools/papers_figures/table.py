"""The tables of all claims: what the papers say, what was measured, and how it is judged."""
import dataclasses

from papers_figures import catalogue, curves, figure, report, simulated

POINTS = 10
HEAD = ["figure", "claim", "paper", "ours", "error in points", "share of the gain", "sign or bound", "met"]


@dataclasses.dataclass
class Counts:
    """What the rows of a table come to; fitted rows and those that were not measured count nowhere."""
    rows: int = 0
    signs: int = 0
    met: int = 0
    numbers: int = 0
    near: int = 0
    gains: int = 0
    shares: int = 0  # of the gains, those of which three quarters to five quarters are reproduced
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
        """In words."""
        fitted = f" {self.fitted} further rows are fitted and count nowhere." if self.fitted else ""
        return (f"Of {self.rows} rows that count, {self.met} are met; in {self.signs} the sign or the bound agrees. {self.numbers} of them have a number, which "
                f"{self.near} meet within {figure.NEAR} points. {self.gains} of the numbers are gains, and {self.shares} reproduce between three and five "
                f"quarters of theirs.{fitted}")


def cells(one, claim, verdict):
    """A row of a table."""
    yes = "" if verdict.ours is None else "fitted" if verdict.fitted else "yes" if verdict.met else "NO"
    return [one.name, claim.text, verdict.paper, verdict.ours or verdict.why_not, "" if verdict.points is None else f"{verdict.points:+d}",
            "" if verdict.gain is None else f"{100 * verdict.gain:.0f} %", "" if verdict.ours is None else "yes" if verdict.agrees else "NO", yes]
