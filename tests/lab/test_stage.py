"""The stage on which a question is measured."""

from pathlib import Path

import pytest

from lab.measurement.beside import open_beside
from lab.measurement.stage import Stage, uvicorn


@pytest.mark.parametrize(("within", "doubtful"), [("capped", True), ("none", False)])
def test_a_limit_that_does_not_hold_is_a_doubt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, within: str, doubtful: bool
) -> None:
    """Otherwise, figures of whole cores would look like those of a quarter of a core."""
    monkeypatch.setenv("LOADTEST_BUDGET", "process tree")
    with open_beside(database=False) as beside:
        stage = Stage(beside, tmp_path, quick=True)
        with stage.serve(uvicorn("workers"), within):
            pass
    assert [doubt.startswith("the CPU was not limited (0.25 cores)") for doubt in stage.doubts] == [True] * doubtful
