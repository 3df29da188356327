"""The commits that documents name beside figures are in the history."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`([0-9a-f]{7})`")


def _git(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, encoding="utf-8", check=False)


def named() -> dict[str, list[str]]:
    """Returns the commits that documents name, each with the documents."""
    found: dict[str, list[str]] = {}
    for name in _git("ls-files", "*.md").stdout.splitlines():
        for commit in NAMED.findall((ROOT / name).read_text(encoding="utf-8")):
            found.setdefault(commit, []).append(name)
    return found


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no repository")
def test_each_commit_is_an_ancestor() -> None:
    """A reader can check out the commit of each figure."""
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() == "true":
        pytest.skip("the clone has no history")
    commits = named()
    assert commits
    missing = {commit for commit in commits if _git("merge-base", "--is-ancestor", commit, "HEAD").returncode != 0}
    assert not missing, {commit: commits[commit] for commit in missing}
