"""The Makefile has few targets, and documents name no target that does not exist."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGETS = set(re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)) - {"help"}


def test_help_lists_them_in_groups() -> None:
    """`make help` lists each target below one of four headings."""
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^  make (\S+)", shown, re.MULTILINE)) - {"help"} == TARGETS
    assert len(TARGETS) == 14
    assert len(re.findall(r"^[A-Z]", shown, re.MULTILINE)) == 4


def test_documents_name_targets_that_exist() -> None:
    """Each target in a document's code exists. Generated parts do not count, because they show old commands."""
    folders = ("", "docs/", "docs/questions/", "deploy/", "deploy/k8s/", "loadtest/", "app/*/")
    found, missing = set(), {}
    for document in (file for folder in folders for file in ROOT.glob(f"{folder}*.md")):
        text = re.sub(r"\[\[\[cog.*?\[\[\[end\]\]\]", "", document.read_text(), flags=re.DOTALL)
        named = re.findall(r"(?:^|`)make ([a-z0-9-]+)((?: [a-z0-9-]+)*)", text, re.MULTILINE)
        targets = {target for first, others in named for target in (first, *others.split())}
        found |= targets
        if targets - TARGETS - {"help"}:
            missing[document.name] = targets - TARGETS - {"help"}
    assert missing == {}
    assert found >= {"run", "demo", "test", "check", "docs"}
