"""Writes findings for machines: JSON, JUnit's XML, and a baseline of known findings."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from asgi_doctor.errors import DoctorError
from asgi_doctor.finding import Finding
from asgi_doctor.report import described

Known = set[tuple[str, str, str, str]]
# Characters that XML does not allow. The path of a request may contain them.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_json(findings: Iterable[Finding]) -> str:
    """Returns the findings as a JSON document; `cure` is the advice."""
    return json.dumps({"findings": [fields(finding) for finding in findings]}, indent=2, ensure_ascii=False) + "\n"


def fields(finding: Finding) -> dict[str, Any]:
    """Returns the finding's fields, as they are named in JSON."""
    names = ("file", "line", "function", "route", "kind", "count", "seconds", "uncertainty", "longest", "chain")
    return {name: getattr(finding, name) for name in names} | {"cure": finding.cure.advice}


def as_junit(findings: list[Finding], requests: int, *, failed: bool = False) -> str:
    """Returns a test suite in which each finding is a failed test, or one passed test if there is none.

    `failed`: the application's start-up has failed, which is a test with an error.
    """
    tests: list[Finding | None] = [*findings] or ([] if failed else [None])
    counts = {"tests": str(len(tests) + failed), "failures": str(len(findings)), "errors": str(int(failed))}
    suite = ET.Element("testsuite", {"name": "asgi-doctor"} | counts)
    if failed:
        start = ET.SubElement(suite, "testcase", classname="", name="start of the application")
        ET.SubElement(start, "error", message="the application's start-up has failed")
    for finding in tests:
        name = (
            f"{finding.kind.value} {finding.place}"
            if finding
            else f"nothing blocked the event loop ({requests} requests)"
        )
        case = ET.SubElement(suite, "testcase", classname=finding.route if finding else "", name=name)
        if finding:
            case.set("file", finding.file)
            case.set("line", str(finding.line))
            failure = ET.SubElement(case, "failure", message=finding.cure.advice, type=finding.kind.value)
            failure.text = "\n".join(described(finding))
    return _NOT_XML.sub("\ufffd", ET.tostring(suite, encoding="unicode", xml_declaration=True)) + "\n"


def baseline(findings: Iterable[Finding]) -> str:
    """Returns the findings as a baseline. It has no line numbers, which change with each edit."""
    names = ("file", "function", "route", "kind")
    known = [dict(zip(names, one, strict=True)) for one in sorted({key(finding) for finding in findings})]
    return json.dumps({"known": known}, indent=2, ensure_ascii=False) + "\n"


def known_findings(file: Path) -> Known:
    """Returns the findings of a baseline. Raises DoctorError."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))["known"]
        return {(one["file"], one["function"], one["route"], one["kind"]) for one in known}
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error if isinstance(error, OSError) else "it is no baseline"
        raise DoctorError(f"--baseline {file}: {reason}; --write-baseline writes one") from None


def key(finding: Finding) -> tuple[str, str, str, str]:
    """Returns what identifies a finding in a baseline."""
    return finding.file, finding.function, finding.route, finding.kind.value


def write(file: Path | None, text: str) -> None:
    """Writes the text, if there is a file. Raises DoctorError."""
    if file is None:
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DoctorError(f"{file}: {error}") from None
