"""The index of results: the newest measurement of each part, and the machine that made it.

`loadtest/results/index.json` is generated from the folders beside it. Documents read it to find a measurement. A part
is a measurement that documents quote. It is named after its file (`bench`), or after its study or question in the lab
(`tips`).
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from loadtest.record import folders
from loadtest.record.comparison import Environment
from loadtest.record.shapes import Record

TRIAL = "-quick"
_HARDWARE = ("system", "cpu", "cores")  # `system` includes the kernel


class Entry(Record):
    """The newest measurement of a part. `folder`: the name of its folder.

    `seconds`: how long it took, or None if `publish` did not run it.
    """

    folder: str
    command: str
    environment: Environment
    seconds: float | None = None
    doubts: list[str] = Field(default_factory=list)

    @property
    def hardware(self) -> tuple[str, ...]:
        return tuple(self.environment.machine[name] for name in _HARDWARE)


class Index(Record):
    """The index. `parts`: the newest measurement of each part, by the part's name."""

    parts: dict[str, Entry]

    @property
    def hardware(self) -> tuple[str, ...]:
        """Returns the machine that measured most parts. Documents mark the parts from other machines."""
        return Counter(entry.hardware for entry in self.parts.values()).most_common(1)[0][0]


def read() -> Index:
    """Reads index.json. Returns an empty index if the file does not exist."""
    file = _file()
    return Index.model_validate_json(file.read_text(encoding="utf-8")) if file.exists() else Index(parts={})


def scan(*, trial: bool = False) -> Index:
    """Makes the index from the folders of complete measurements or, if `trial` is true, of trial runs.

    Takes the `seconds` of an entry from index.json, if index.json has the same measurement.
    """
    left_out = folders.UNPUBLISHED if not trial else ()
    found: dict[str, Entry] = {}
    for file in sorted(folders.RESULTS.glob("*/*.json")):
        name = file.parent.name
        if name.endswith(left_out) or (trial and not name.endswith(TRIAL)) or file.stem.endswith(".fit"):
            continue
        for part, entry in _entries(file):
            if part not in found or found[part].environment.started <= entry.environment.started:
                found[part] = entry
    known = read().parts
    for part, entry in found.items():
        if part in known and known[part].environment == entry.environment:
            found[part] = entry.model_copy(update={"seconds": known[part].seconds})
    return Index(parts=dict(sorted(found.items())))


def write(index: Index) -> None:
    """Writes index.json."""
    _file().write_text(index.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _file() -> Path:
    return folders.RESULTS / "index.json"


def _entries(file: Path) -> Iterator[tuple[str, Entry]]:
    """Yields name and entry of each part in `file`. The lab's file has several parts, each other file has one."""
    result = json.loads(file.read_text(encoding="utf-8"))
    several = [*result.get("studies", ()), *result.get("answers", ())]
    for name, one in [(one["name"], one) for one in several] or [(file.stem, result)]:
        environment = Environment.model_validate(one["environment"])
        doubts = list(dict.fromkeys(_doubts(one)))
        yield name, Entry(folder=file.parent.name, command=one["command"], environment=environment, doubts=doubts)


def _doubts(value: Any) -> Iterator[str]:
    """Yields the reasons to doubt any measurement inside `value`, including failed audits."""
    if isinstance(value, dict):
        yield from value.get("doubts", ())
        if any(value.get(fault) for fault in ("lost", "unasked", "altered")):  # see `Audit.holds`
            yield "an audit does not hold"
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _doubts(inner)
