"""The user's configuration: `[tool.asgi-doctor]` in pyproject.toml. `allow` and `baseline` in it permit findings."""

import json
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from asgi_doctor.errors import DoctorError
from asgi_doctor.finding import Finding

Known = set[tuple[str, str, str, str]]

# The keys of a table in `send`, and their options. --send is first, because the others refer to the --send before them.
_OPTIONS = {"request": "--send", "header": "--header", "body": "--body"}
_REQUESTS = 'send = ["GET /pay", { request = "POST /login", body = "name=ada", header = ["Accept: text/html"] }]'


class Allowed(NamedTuple):
    """Permits findings on routes that match the pattern `route`, if `library` is "" or the line calls this library."""

    library: str
    route: str

    def fits(self, finding: Finding) -> bool:
        return self.library in {"", *finding.libraries} and fnmatchcase(finding.route, self.route)


class Permitted(NamedTuple):
    """Permits findings that fit a rule in `allow`, or whose key is in `known`, the keys of a baseline."""

    allow: list[Allowed]
    known: Known

    def new(self, findings: Iterable[Finding]) -> list[Finding]:
        return [
            one for one in findings if key(one) not in self.known and not any(rule.fits(one) for rule in self.allow)
        ]


class Configuration(NamedTuple):
    """The content of `[tool.asgi-doctor]`. `arguments`: the options in it, written as on the command line."""

    arguments: list[str]
    allow: list[Allowed]
    baseline: Path | None


def read(folder: Path) -> Configuration:
    """Returns the configuration in the folder's pyproject.toml, or an empty one if there is no such file.

    Raises DoctorError if the file cannot be read or has a wrong entry.
    """
    file = folder / "pyproject.toml"
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise DoctorError(f"{file}: {error}") from None
    table = tables.get("tool", {}).get("asgi-doctor", {})
    allow = [_allowed(entry) for entry in table.pop("allow", [])]
    baseline = folder / table["baseline"] if "baseline" in table else None
    return Configuration([one for name in table for one in _arguments(name, table[name])], allow, baseline)


def _arguments(name: str, value: Any) -> list[str]:
    values = [one for one in (value if isinstance(value, list) else [value]) if one is not False]
    if name == "send":
        return [option for one in values for option in _request(one)]
    if name in {"body", "header"}:
        raise DoctorError(f"pyproject.toml, [tool.asgi-doctor]: {name}: it belongs to a request: {_REQUESTS}")
    return [f"--{name}" if one is True else f"--{name}={one}" for one in values]


def _request(entry: Any) -> list[str]:
    """Returns the options for an entry of `send`, a string or a table. Raises DoctorError if the table is wrong."""
    entry = entry if isinstance(entry, dict) else {"request": entry}
    table = {name: value if isinstance(value, list) else [value] for name, value in entry.items()}
    if "request" not in table or not table.keys() <= _OPTIONS.keys():
        raise DoctorError(f"pyproject.toml, [tool.asgi-doctor]: send: {entry!r}: allowed is {_REQUESTS}")
    return [f"{option}={one}" for name, option in _OPTIONS.items() for one in table.get(name, [])]


def _allowed(entry: Any) -> Allowed:
    texts = entry if isinstance(entry, dict) and all(isinstance(text, str) for text in entry.values()) else {}
    if not texts.get("because") or not {"because"} < texts.keys() <= {"because", "library", "route"}:
        example = '{ library = "boto3", because = "it only runs at night" }, or with route = "GET /orders/*"'
        raise DoctorError(f"pyproject.toml, [tool.asgi-doctor]: allow: {entry!r}: allowed is {example}")
    return Allowed(texts.get("library", ""), texts.get("route", "*"))


def baseline(findings: Iterable[Finding]) -> str:
    """Returns the findings as a baseline in JSON. It has no line numbers, because they change with each edit."""
    names = ("file", "function", "route", "kind")
    known = [dict(zip(names, one, strict=True)) for one in sorted({key(finding) for finding in findings})]
    return json.dumps({"known": known}, indent=2, ensure_ascii=False) + "\n"


def known_findings(file: Path | None, *, writes: bool = False) -> Known:
    """Returns the keys of the findings in the baseline `file`, or an empty set if `file` is None.

    Raises DoctorError if the file is no baseline, or if it is missing and this run does not write one (`writes`).
    """
    if file is None or (writes and not file.exists()):
        return set()
    try:
        known = json.loads(file.read_text(encoding="utf-8"))["known"]
        return {(one["file"], one["function"], one["route"], one["kind"]) for one in known}
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error if isinstance(error, OSError) else "it is no baseline"
        raise DoctorError(f"--baseline {file}: {reason}; `asgi-doctor … --write-baseline {file}` writes one") from None


def key(finding: Finding) -> tuple[str, str, str, str]:
    """Returns the file, function, route and kind, which together identify a finding in a baseline."""
    return finding.file, finding.function, finding.route, finding.kind.value
