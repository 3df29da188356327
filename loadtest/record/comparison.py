"""The schemas of two kinds of files: `meta.json` of an attack, and the JSON file of a comparison."""

from loadtest.record.shapes import Measurement, Record
from profiles.instruments import OVERHEAD_MS


class Environment(Record):
    """The environment of a measurement: see `meta.py`. `commit` ends in -dirty if code was not committed."""

    commit: str
    started: str
    machine: dict[str, str]
    tools: dict[str, str]


class AttackRecord(Record):
    """The content of `meta.json`, the file with the results of an attack."""

    environment: Environment
    measurement: Measurement


class Run(Record):
    """One repeat of one case. `kind`: the attack's name or, in a duet, the name of the pair's first subject."""

    kind: str
    repeat: int
    measurement: Measurement


# The flag with the overhead of a request: the name in results up to commit 4cefbc3, and the present name.
OVERHEAD = ("APP_REQUEST_OVERHEAD_MS", OVERHEAD_MS)


class Comparison(Record):
    """Interleaved repeats in one run, on one commit and one machine. `title`: the command and what it compares.

    `factor`: the factor by which time was dilated. `against`: the commit or the Python interpreter of the
    reference releases, or None if all releases have the commit and the interpreter of this run.
    """

    title: str
    command: str
    environment: Environment
    repeats: int
    runs: list[Run]
    factor: float = 1
    against: str | None = None

    @property
    def overhead_ms(self) -> float:
        """Returns the CPU time that a middleware spent on each request, in ms of this machine's time."""
        found = (run.measurement.flags.get(name, 0) for run in self.runs for name in OVERHEAD)
        return max(map(float, found), default=0)

    def of(self, kind: str, name: str) -> list[Measurement]:
        """Returns the repeats of one case, in order, or [] if the case was not run."""
        return [run.measurement for run in self.runs if (run.kind, run.measurement.name) == (kind, name)]

    def names(self, kind: str) -> list[str]:
        """Returns the names of the subjects in runs of this kind, in the order of their first repeat."""
        return list(dict.fromkeys(run.measurement.name for run in self.runs if run.kind == kind))
