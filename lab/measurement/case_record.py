"""The schema of lab.json: the published experiments, measured here."""

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Measurement, Record


class Threads(Record):
    """`python`: the most Python threads of the lab's process, None with several workers or where GET /threads got no
    answer in time. `os`: the most threads of all of its processes, `before` those before the first request.
    """

    python: int | None
    os: int
    before: int


class Cores(Record):
    """Cores on average, from the first request to the last answer. `harness`: the load test's own process."""

    lab: float
    generator: float
    upstream: float
    database: float
    harness: float
    of: int

    @property
    def used(self) -> float:
        return self.lab + self.generator + self.upstream + self.database + self.harness


class CaseRepeat(Record):
    """One repeat of one case of a study, whose name is unique there.

    `cores` is None in a duet: two labs and two load generators are measured at the same time.
    """

    name: str
    path: str
    workers: int
    repeat: int
    measurement: Measurement
    threads: Threads | None = None
    cores: Cores | None = None


class Study(Record):
    """Interleaved repeats of all cases of one study. `scale`: of the database, 1 as published, None without one."""

    name: str
    command: str
    environment: Environment
    repeats: int
    scale: float | None
    rows: list[CaseRepeat]

    def of(self, name: str) -> list[CaseRepeat]:
        """The repeats of one case, in order; empty where it was not run."""
        return [row for row in self.rows if row.name == name]

    def names(self) -> list[str]:
        """The cases, in the order of their first repeat."""
        return list(dict.fromkeys(row.name for row in self.rows))


class LabResults(Record):
    """lab.json: each study with where it comes from, since a study can be measured again by itself."""

    studies: list[Study]

    def study(self, name: str) -> Study | None:
        return next((study for study in self.studies if study.name == name), None)

    def replaced(self, study: Study) -> "LabResults":
        """Returns a copy with `study` in place of the study of the same name, or at the end if there is none."""
        if self.study(study.name) is None:
            return LabResults(studies=[*self.studies, study])
        return LabResults(studies=[study if old.name == study.name else old for old in self.studies])
