"""Writes findings for machines: JSON, JUnit's XML, SARIF, and GitHub's annotations."""

import json
import os
import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from asgi_doctor.configuration import key
from asgi_doctor.errors import DoctorError
from asgi_doctor.finding import Finding, Kind
from asgi_doctor.report import WHAT, described, times

# Characters that XML does not allow. The path of a request may contain them.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_json(findings: Iterable[Finding]) -> str:
    """Returns the findings as a JSON document. The field `cure` has the advice without the example."""
    return json.dumps({"findings": [fields(finding) for finding in findings]}, indent=2, ensure_ascii=False) + "\n"


def fields(finding: Finding) -> dict[str, Any]:
    """Returns the finding's fields by their names in the JSON document."""
    names = ("file", "line", "function", "route", "kind", "count", "seconds", "uncertainty", "longest", "chain")
    return {name: getattr(finding, name) for name in names} | {"cure": finding.cure.advice}


def as_junit(findings: list[Finding], seen: str, *, failed: bool = False) -> str:
    """Returns a test suite in XML. Each finding is a failed test. Without findings, the suite has one passed test.

    `seen`: what the doctor has watched. `failed`: the application's start-up has failed, so the suite has a test with
    an error, and no passed test.
    """
    tests: list[Finding | None] = [*findings] or ([] if failed else [None])
    counts = {"tests": str(len(tests) + failed), "failures": str(len(findings)), "errors": str(int(failed))}
    suite = ET.Element("testsuite", {"name": "asgi-doctor"} | counts)
    if failed:
        start = ET.SubElement(suite, "testcase", classname="", name="start of the application")
        ET.SubElement(start, "error", message="the application's start-up has failed")
    for finding in tests:
        name = f"{finding.kind.value} {finding.place}" if finding else f"nothing new blocked the event loop ({seen})"
        case = ET.SubElement(suite, "testcase", classname=finding.route if finding else "", name=name)
        if finding:
            case.set("file", finding.file)
            case.set("line", str(finding.line))
            failure = ET.SubElement(case, "failure", message=finding.cure.advice, type=finding.kind.value)
            failure.text = "\n".join(described(finding))
    return _NOT_XML.sub("\ufffd", ET.tostring(suite, encoding="unicode", xml_declaration=True)) + "\n"


def as_sarif(findings: list[Finding], *, failed: bool = False) -> str:
    """Returns a log in the format SARIF 2.1.0, for GitHub's code scanning. `failed`: the start-up has failed.

    https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
    """
    rules = [{"id": kind.value, "shortDescription": {"text": f"A line that {WHAT[kind]}"}} for kind in Kind]
    run = {
        "tool": {"driver": {"name": "asgi-doctor", "version": installed_version(), "rules": rules}},
        "invocations": [{"executionSuccessful": not failed}],
        "results": [_result(finding) for finding in findings],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _result(finding: Finding) -> dict[str, Any]:
    file = in_repository(finding.file)
    place = {
        "artifactLocation": {"uri": file.as_uri() if file.is_absolute() else quote(file.as_posix())},
        "region": {"startLine": max(finding.line, 1), "snippet": {"text": finding.source}},
    }
    return {
        "ruleId": finding.kind.value,
        "level": "error",
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"finding/v1": " ".join(key(finding))},
    }


def as_github(finding: Finding) -> str:
    """Returns the workflow command that makes GitHub Actions annotate the finding's line.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message
    """
    title = f"asgi-doctor: {finding.kind.value}"
    values = {"file": str(in_repository(finding.file)), "line": str(finding.line), "title": title}
    pairs = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in values.items())
    return f"::error {pairs}::{_escaped(_message(finding))}"


def in_repository(file: str) -> Path:
    """Returns the path relative to the repository's root, as GitHub needs it, or unchanged if the file is elsewhere."""
    here, workspace = Path.cwd(), os.environ.get("GITHUB_WORKSPACE")
    root = next((one for one in (here, *here.parents) if (one / ".git").exists() or str(one) == workspace), here)
    own = not file.startswith("…") and (here / file).is_relative_to(root)
    return (here / file).relative_to(root) if own else Path(file)


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(one):02X}" if one in "%\r\n" + more else one for one in text)


def _message(finding: Finding) -> str:
    what = f"{finding.source}: a line that {WHAT[finding.kind]}, {times(finding)}"
    return f"{finding.route or 'no request'}: {what}. Cure: {finding.cure.advice}"


def installed_version() -> str:
    """Returns the version of the installed package, or "unreleased" in a clone that is not installed."""
    try:
        return version("asgi-doctor")
    except PackageNotFoundError:
        return "unreleased"


def write(file: Path | None, text: str) -> None:
    """Writes the text, unless `file` is None. Raises DoctorError if the file cannot be written."""
    if file is None:
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DoctorError(f"{file}: {error}") from None
