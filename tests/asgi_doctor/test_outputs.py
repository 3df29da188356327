"""The files and lines that the doctor writes for CI pipelines."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from asgi_doctor import outputs
from asgi_doctor.finding import Cure, Finding, Kind


def _finding(file: str, route: str = "GET /pay", line: int = 7) -> Finding:
    cure = Cure("wait 100 %,\nthen: retry")
    return Finding(file, line, "pay", route, Kind.WAITS, 1, 0.2, 0.2, (), cure, "sleep(1)")


def test_a_path_with_control_characters() -> None:
    """JUnit's file is valid XML, even if the path of a request has control characters."""
    suite = ET.fromstring(outputs.as_junit([_finding("shop.py", "GET /a\x01")], ""))  # noqa: S314  # the doctor's own
    assert suite[0].get("classname") == "GET /a\ufffd"


def test_sarif() -> None:
    """A result has a rule, a URI and a line, as the schema requires, and a fingerprint without the line number."""
    [run] = json.loads(outputs.as_sarif([_finding("a, b/ü.py"), _finding("/srv/x.py", line=0)]))["runs"]
    assert {result["ruleId"] for result in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in places] == [
        ("a%2C%20b/%C3%BC.py", 7),
        ("file:///srv/x.py", 1),
    ]
    assert run["results"][0]["partialFingerprints"] == {"finding/v1": "a, b/ü.py pay GET /pay waits"}
    assert run["invocations"] == [{"executionSuccessful": True}]


@pytest.mark.parametrize("marked", ["git", "workspace"])
def test_paths_in_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marked: str) -> None:
    """Paths are relative to the repository's root, from any working directory. Paths of libraries are unchanged."""
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path) if marked == "workspace" else "/elsewhere")
    if marked == "git":
        (tmp_path / ".git").mkdir()
    (tmp_path / "services" / "shop").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "services" / "shop")
    assert outputs.as_github(_finding("main.py")).startswith("::error file=services/shop/main.py,line=7,")
    sarif = json.loads(outputs.as_sarif([_finding(one) for one in ("main.py", f"{tmp_path}/lib.py", "…/httpx/a.py")]))
    places = [result["locations"][0]["physicalLocation"] for result in sarif["runs"][0]["results"]]
    found = [one["artifactLocation"]["uri"] for one in places]
    assert found == ["services/shop/main.py", "lib.py", "%E2%80%A6/httpx/a.py"]


def test_annotations_of_github() -> None:
    """A command is one line, and in its values, characters that would end a value for GitHub are escaped."""
    assert outputs.as_github(_finding("a,b:c.py")) == (
        "::error file=a%2Cb%3Ac.py,line=7,title=asgi-doctor%3A waits::GET /pay: sleep(1): a line that uses hardly any "
        "CPU meanwhile, once, about 0.20 s, longest 0.20 s. Cure: wait 100 %25,%0Athen: retry"
    )
