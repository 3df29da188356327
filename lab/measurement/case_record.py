"""The schema of lab.json, which contains our measurements of the published experiments."""

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Measurement, Record


class Threads(Record):
    """Numbers of threads.

    `python`: the maximum of Python threads in the lab's process, or None if the lab had several workers or did not
    answer GET /threads in time. `os`: the maximum of threads in all processes of the lab. `before`: the threads in all
    processes of the lab before the first request.
    """

    python: int | None
    os: int
    before: int


class Cores(Record):
    """The average number of cores that each program used, from the first request to the last answer.

    `generator`: vegeta. `harness`: the load test's own process. `of`: the number of cores of the machine.
    """

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
    """One repeat of one case of a study. `name`: the case, or `X beside Y` for the reference X in the duet of Y.

    `threads` and `cores` are None in a duet, in which two labs and two load generators run at the same time.
    """

    name: str
    path: str
    workers: int
    repeat: int
    measurement: Measurement
    threads: Threads | None = None
    cores: Cores | None = None


class Study(Record):
    """The repeats of all cases of one study. In each repeat, every case was measured once.

    `scale`: the number of rows in the database ÷ the published number, or None if the study has no database.
    """

    name: str
    command: str
    environment: Environment
    repeats: int
    scale: float | None
    rows: list[CaseRepeat]

    def of(self, name: str) -> list[CaseRepeat]:
        """Returns the repeats of one case, in order. The list is empty if the case was not measured."""
        return [row for row in self.rows if row.name == name]

    def names(self) -> list[str]:
        """Returns the names of the cases, in the order of their first repeat."""
        return list(dict.fromkeys(row.name for row in self.rows))


class LabResults(Record):
    """The content of lab.json. Each study has its own command and environment: studies may be from different runs."""

    studies: list[Study]

    def study(self, name: str) -> Study | None:
        return next((study for study in self.studies if study.name == name), None)

    def replaced(self, study: Study) -> "LabResults":
        """Returns a copy with `study` in place of the study of the same name, or at the end if there is none."""
        if self.study(study.name) is None:
            return LabResults(studies=[*self.studies, study])
        return LabResults(studies=[study if old.name == study.name else old for old in self.studies])
