"""How a measurement finds Go: `.ci/go` in a checkout, and the one on PATH in an image."""

from pathlib import Path

import pytest

from loadtest.stage import tools


@pytest.mark.parametrize(
    ("checkout", "on_path", "found"),
    [
        ("exit 0", None, "checkout"),
        ("exit 0", "exit 0", "checkout"),  # it runs the one on PATH if that is new enough
        ("exit 1", "exit 0", None),  # neither new enough nor installed
        (None, "exit 0", "go"),
        (None, None, None),
    ],
)
def test_which_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkout: str | None, on_path: str | None, found: str | None
) -> None:
    """Each program either runs Go, or fails."""
    for name, code in {"checkout": checkout, "go": on_path}.items():
        if code is not None:
            (tmp_path / name).write_text(f"#!/bin/bash\n{code}\n", encoding="utf-8")
            (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(tools, "_GO", tmp_path / "checkout")
    monkeypatch.setenv("PATH", str(tmp_path))
    tools.go.cache_clear()
    try:
        assert tools.go() == (str(tmp_path / "checkout") if found == "checkout" else found)
    finally:
        tools.go.cache_clear()
