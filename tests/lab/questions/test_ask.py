"""`python -m lab --only NAME` for a question."""

import json
import re
from pathlib import Path

import pytest

from lab.measurement.questions import QUESTIONS
from tests.harness.commands import run


def asked(name: str, out: Path) -> str:
    done = run("--only", name, "--quick", "--out", str(out), module="lab")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_question_is_asked(tmp_path: Path) -> None:
    """Prints a verdict or a doubt for each claim, and writes questions.json and pictures.

    The tests of docs/questions ask the others.
    """
    name = "large_responses"
    printed = asked(name, tmp_path)
    assert re.search(r"so it is|only if|not here|DOUBTFUL", printed)
    [answer] = json.loads((tmp_path / "questions.json").read_text())["answers"]
    assert {run["case"] for run in answer["runs"]} <= set(QUESTIONS[name].chosen(quick=True))
    assert {file.name for file in tmp_path.glob("*.svg")} == {
        f"question-{name}-{kind}.svg" for kind in ("dark", "light")
    }


def test_every_claim_is_about_cases_that_are_measured() -> None:
    """A claim compares figures that the picture or the table shows."""
    for question in QUESTIONS.values():
        named = {
            case
            for claim in question.claims
            for ratio in (claim.ratio, claim.unless or claim.ratio)
            for case in ratio[1:]
        }
        assert named <= set(question.cases)
        assert set(question.quick) <= set(question.cases)
