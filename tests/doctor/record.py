"""A record of runs: one JSON line for each run of a case under a tool, so that a long measurement can be continued."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.doctor.judge import Verdict


@dataclass(frozen=True)
class Run:
    """One run. `error` says why the case could not be run, or is empty. `reported`: what the tool said, as text."""

    case: str
    half: str
    kind: str | None
    tool: str
    loop: str
    busy: bool
    number: int
    verdict: Verdict
    error: str = ""
    reported: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str, str, bool, int]:
        return self.half, self.case, self.tool, self.loop, self.busy, self.number


def read(file: Path) -> list[Run]:
    """Returns the runs of the file, or none if there is no file."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [_parsed(line) for line in lines]


def append(file: Path, run: Run) -> None:
    with file.open("a", encoding="utf-8") as written:
        written.write(json.dumps(asdict(run)) + "\n")


def merge(runs: Iterable[Run]) -> list[Run]:
    """Returns the runs, of those with the same key only the last."""
    return list({run.key: run for run in runs}.values())


def _parsed(line: str) -> Run:
    fields = json.loads(line)
    return Run(**fields | {"verdict": Verdict(**fields["verdict"])})
