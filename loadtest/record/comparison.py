"""The schema of what is written: `meta.json` of an attack, and the JSON file of a comparison."""

from loadtest.record.shapes import Measurement, Record
from profiles.instruments import OVERHEAD_MS


class Environment(Record):
    """See `loadtest.record.meta`. `commit` ends in -dirty where the code differs from that commit."""

    commit: str
    started: str
    machine: dict[str, str]
    tools: dict[str, str]


class AttackRecord(Record):
    """`meta.json`."""

    environment: Environment
    measurement: Measurement


class Run(Record):
    """One of the repeats of one case. `kind`: which of the attacks, or in a duet, the name of the first subject."""

    kind: str
    repeat: int
    measurement: Measurement


# The overhead of a request among the flags of a measurement, as results have it until 4cefbc3 and since.
OVERHEAD = ("APP_REQUEST_OVERHEAD_MS", OVERHEAD_MS)


class Comparison(Record):
    """Interleaved repeats in one run, on one commit and one machine. `title`: the command and what it compares.

    `factor`: by how much time was dilated. `against`: the commit or the Python whose releases are the references.
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
        """The CPU time that a middleware spent on each request, in ms of this machine's time."""
        found = (run.measurement.flags.get(name, 0) for run in self.runs for name in OVERHEAD)
        return max(map(float, found), default=0)

    def of(self, kind: str, name: str) -> list[Measurement]:
        """The repeats of one case, in order; empty where it was not run."""
        return [run.measurement for run in self.runs if (run.kind, run.measurement.name) == (kind, name)]

    def names(self, kind: str) -> list[str]:
        """The subjects of that kind, in the order of their first repeat."""
        return list(dict.fromkeys(run.measurement.name for run in self.runs if run.kind == kind))
