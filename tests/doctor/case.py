"""Reads the cases of the corpus. Their format is described in corpus/README.md."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).with_name("corpus")
HALVES = ("visible", "blind")


@dataclass(frozen=True)
class Request:
    """`count` equal requests, `concurrency` at a time. `body` is sent as JSON."""

    method: str
    path: str
    count: int = 1
    concurrency: int = 1
    body: str = ""


@dataclass(frozen=True)
class Case:
    """One application. `lines` are the marked lines; a healthy case has none, and its kind is None."""

    file: Path
    framework: str
    kind: str | None
    route: str | None
    cures: tuple[str, ...]
    send: tuple[Request, ...]
    source: str
    lines: frozenset[int]

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def half(self) -> str:
        return self.file.parent.name


def cases(halves: tuple[str, ...] = HALVES, only: str = "") -> list[Case]:
    """Returns the cases whose names contain `only`."""
    files = (file for half in halves for file in sorted((CORPUS / half).glob("*.py")) if file.stem != "__init__")
    return [read(file) for file in files if only in file.stem]


def read(file: Path) -> Case:
    """Reads one case without importing it. Raises ValueError."""
    text = file.read_text(encoding="utf-8")
    found = next((node.value for node in ast.parse(text).body if _is_case(node)), None)  # type: ignore[attr-defined]
    if found is None:
        raise ValueError(f"{file}: no CASE = {{…}}")
    case: dict[str, Any] = ast.literal_eval(found)
    lines = frozenset(number for number, line in enumerate(text.splitlines(), 1) if re.search(r"#\s*FAULT\b", line))
    if bool(lines) != (case["kind"] is not None):
        raise ValueError(f"{file}: a faulty case has marked lines, and a healthy one has none")
    return Case(
        file,
        case["framework"],
        case["kind"],
        case["route"],
        tuple(case["cures"]),
        tuple(Request(*one) for one in case["send"]),
        case.get("source", ""),
        lines,
    )


def _is_case(node: Any) -> bool:
    return isinstance(node, ast.Assign) and [ast.unparse(name) for name in node.targets] == ["CASE"]
