"""The commit that a measurement records."""

import subprocess
from pathlib import Path

import pytest

from loadtest.record import meta

_AUTHOR = ("-c", "user.name=a test", "-c", "user.email=test@example.com")


def test_results_and_pictures_leave_a_commit_clean_and_code_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New pictures, documents, tests and docstrings do not change the recorded commit, but changed code does."""
    (tmp_path / "profiles").mkdir()
    (tmp_path / "tests").mkdir()
    for name in ("profiles/a.png", "profiles/draw.py", "tests/test_a.py", "README.md"):
        (tmp_path / name).write_text("before", encoding="utf-8")
    draw = tmp_path / "profiles/draw.py"
    for arguments in (("init", "--quiet"), ("add", "."), (*_AUTHOR, "commit", "--quiet", "--message", "one")):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    monkeypatch.setattr(meta, "ROOT", tmp_path)
    clean = meta.commit()
    (tmp_path / "profiles/a.png").write_text("after", encoding="utf-8")
    (tmp_path / "README.md").write_text("after", encoding="utf-8")
    (tmp_path / "tests/test_a.py").write_text("after", encoding="utf-8")
    assert (meta.commit(), meta.commit(of_tests=True)) == (clean, f"{clean}-dirty")
    _commit(tmp_path, "two")
    assert meta.commit() == clean  # the last commit that changed code
    draw.write_text('"""A text."""\n\nbefore  # a comment\n', encoding="utf-8")
    assert meta.commit() == f"{clean}-dirty"
    _commit(tmp_path, "three")
    assert meta.commit() == clean
    draw.write_text("after", encoding="utf-8")
    _commit(tmp_path, "four")
    assert meta.commit() not in {clean, f"{clean}-dirty"}


def _commit(repository: Path, message: str) -> None:
    command = ["git", "-C", str(repository), *_AUTHOR, "commit", "--quiet", "--all", "--message", message]
    subprocess.run(command, check=True)
