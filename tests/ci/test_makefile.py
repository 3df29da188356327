"""The Makefile has few targets, and documents name no target that does not exist."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = set(re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)) - {
    "help"
}

# Stands in for Python: makes a `.venv`, whose Python is the same script.
PYTHON = """#!/bin/sh
case "$*" in
-V) echo Python 3.12.1 ;;
*venv.main*) rm .venv/bin/python && cp "$0" .venv/bin/python ;;
esac
"""


def test_documents_name_targets_that_exist() -> None:
    """Each target in a document's code exists. Generated parts do not count, because they show old commands."""
    folders = ("", "docs/", "docs/questions/", "deploy/", "deploy/k8s/", "loadtest/", "app/*/")
    found, missing = set(), {}
    for document in (file for folder in folders for file in ROOT.glob(f"{folder}*.md")):
        text = re.sub(r"\[\[\[cog.*?\[\[\[end\]\]\]", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
        named = re.findall(r"(?:^|`)make ([a-z0-9-]+)((?: [a-z0-9-]+)*)", text, re.MULTILINE)
        targets = {target for first, others in named for target in (first, *others.split())}
        found |= targets
        if targets - TARGETS - {"help"}:
            missing[document.name] = targets - TARGETS - {"help"}
    assert missing == {}
    assert found >= {"run", "demo", "test", "check", "docs"}


@pytest.mark.parametrize("stale", ["gone", "upgraded"])
def test_a_stale_environment(stale: str, tmp_path: Path) -> None:
    """`.venv` is made anew if its Python is gone or does not see the packages, and one line says so."""
    python, installed = tmp_path / "python", tmp_path / ".venv" / "local"
    (rule,) = re.findall(r"^\.venv/local: (locks/.+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    locks = [tmp_path / lock for lock in rule.split()]
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to({"gone": "/does/not/exist", "upgraded": "/bin/false"}[stale])
    for file in (*locks, installed):
        file.parent.mkdir(exist_ok=True)
        file.touch()
    shutil.copy(ROOT / "Makefile", tmp_path)
    command = ["make", "run", f"PYTHON={python}"]
    # Below another make, as in `make test`, this one would say which folder it enters.
    alone = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    ended = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, encoding="utf-8", check=True)
    assert ended.stdout == "the Python of .venv is gone or was upgraded: making .venv with Python 3.12.1 …\n"
    assert ended.stderr == ""
    again = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, encoding="utf-8", check=True)
    assert again.stdout == ""
