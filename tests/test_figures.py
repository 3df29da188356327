"""Documents agree about the figures that more than one of them states."""

import re
import subprocess
from itertools import combinations

import pytest

from tests.test_documents import ROOT

RESULTS = ("loadtest/RESULTS.md", "docs/lab.md")
GENERATED = re.compile(r"<!-- \[\[\[cog.*?\[\[\[end\]\]\] -->", re.DOTALL)
INTERVAL = re.compile(r"\d[\d,.]* \(\d[\d,.]*–\d[\d,.]*\)")
WORDS = {"twice": 2, "three times": 3, "four times": 4, "eight times": 8}

# For each figure: how each document states it. RESULTS.md's tables are generated from the measurements.
SAME = {
    "CPU of v10 ÷ v11": [
        ("loadtest/RESULTS.md", r"\| v10_lean_client \| [^|]+ ms \| (\d+\.\d+) \("),
        ("loadtest/RESULTS.md", r"v10 takes (.+?) as much CPU time"),
        ("CHANGELOG.md", r"v10 takes ([\d.]+ times|\D+?) as much CPU time as v11"),
    ],
    "CPU of Go ÷ v11": [
        ("loadtest/RESULTS.md", r"\| go \| [^|]+ ms \| (\d+\.\d+) \("),
        ("loadtest/RESULTS.md", r"Go takes (.+?) as much as v11 with one send"),
        ("CHANGELOG.md", r"one call for each webhook, Go takes (.+?) as much as v11"),
    ],
    "CPU of Go with group commit ÷ v11": [
        ("loadtest/RESULTS.md", r"\| go_group_commit \| [^|]+ ms \| (\d+\.\d+) \("),
        ("loadtest/RESULTS.md", r"one send for each webhook, (.+?) with group commit"),
        ("CHANGELOG.md", r"With group commit, Go takes (.+?) as much"),
    ],
    "CPU of v10 ÷ a server that only answers": [
        ("CHANGELOG.md", r"v10 takes (.+?) as much CPU time as a server that only"),
        ("CHANGELOG.md", r"In the duets, v10 takes (.+?) as much\."),
    ],
    "CPU of v11 ÷ a server that only answers": [
        ("loadtest/RESULTS.md", r"v11 takes (.+?) as much as a server that does nothing"),
        ("CHANGELOG.md", r"v11, the next chapter, takes (.+?),"),
    ],
    "CPU for each webhook of v11, in ms": [
        ("loadtest/RESULTS.md", r"\| v11_without_asgi \| ([\d.]+) \("),
        ("deploy/CAPACITY.md", r"\| CPU \| [\d.]+ cores \| ([\d.]+) cores"),  # at 1,000 webhooks a second
    ],
    "got 200 over the capacity, with deadlines": [
        ("CHANGELOG.md", r"deadlines and refusals, ([\d,]+) of them got 200"),
        ("docs/questions/overload.md", r"limits of a deployment, ([\d,]+) got 200"),
    ],
    "got 200 over the capacity, without deadlines": [
        ("CHANGELOG.md", r"Without them, ([\d,]+) got 200"),
        ("docs/questions/overload.md", r"all that it has accepted: ([\d,]+) of [\d,]+ got 200"),
    ],
    "got 200 at twice the capacity": [
        ("loadtest/RESULTS.md", r"\| twice the capacity \| [^|]+ \| 200: ([\d,]+),"),
        ("docs/questions/overload.md", r"([\d,]+) webhooks got 200, which is half of its capacity"),
    ],
    "fastest answer to 200 webhooks at once under v07, in ms": [
        ("CHANGELOG.md", r"the fastest answer to 200 webhooks then takes ([\d,]+) ms"),
        ("docs/questions/connecting_at_once.md", r"The fastest answer took ([\d,]+) ms with 200 threads"),
    ],
    "twenty webhooks under v05, in s": [
        ("CHANGELOG.md", r"200: 20 in (2\.\d+) s \(9/s\); fastest 2,2\d\d ms"),
        ("CHANGELOG.md", r"Under v05, the twenty webhooks took ([\d.]+) s"),
        ("CHANGELOG.md", r"twenty webhooks take 0\.24 s instead of ([\d.]+) s"),
    ],
    "a hundred webhooks under v04, in s": [
        ("CHANGELOG.md", r"200: 100 in (1\.\d+) s"),
        ("CHANGELOG.md", r"a hundred webhooks take ([\d.]+) s instead of"),
    ],
    "slowest probe of v06, in s": [
        ("docs/questions/liveness_502.md", r"the slowest probe took ([\d.]+) s"),
        ("docs/questions/who_is_not_let_in.md", r"answered \d+ probes, the slowest after ([\d.]+) s\."),
    ],
    "faults of the worker that the simulation found": [
        ("README.md", r"It found each of (\d+) planted faults"),
        ("docs/simulation.md", r"It found all (\d+) of the worker"),
    ],
}


def text(name: str) -> str:
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def number(said: str) -> float:
    return WORDS[said] if said in WORDS else float(said.removesuffix(" times").replace(",", ""))


def decimals(said: str) -> int:
    return len(said.removesuffix(" times").partition(".")[2])


@pytest.mark.parametrize("name", SAME)
def test_documents_agree(name: str) -> None:
    """Each statement equals each other one, after both are rounded as the one with fewer decimals."""
    said = []
    for document, pattern in SAME[name]:
        found = re.search(pattern, text(document))
        assert found, f"{document} does not say {pattern!r} any more"
        said.append((document, found[1]))
    for (_, one), (_, other) in combinations(said, 2):
        digits = min(decimals(one), decimals(other))
        assert round(number(one), digits) == round(number(other), digits), said


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no repository")
def test_each_interval_stands_in_the_results() -> None:
    """A sentence that quotes a measurement with its interval quotes the tables as they are now."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    ).stdout
    results = "".join(text(name) for name in RESULTS)
    quoted = {
        (name, interval)
        for name in listed.split()
        if name not in RESULTS
        for interval in INTERVAL.findall(GENERATED.sub("", (ROOT / name).read_text(encoding="utf-8")))
    }
    assert quoted
    assert {(name, interval) for name, interval in quoted if interval not in results} == set()
