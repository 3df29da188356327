"""The Makefile: few targets, and no document names another one."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = set(re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)) - {"help"}


def test_help_lists_them_in_groups() -> None:
    """Each target, below one of the headings."""
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^  make (\S+)", shown, re.MULTILINE)) - {"help"} == TARGETS
    assert len(TARGETS) == 14
    assert len(re.findall(r"^[A-Z]", shown, re.MULTILINE)) == 4


@pytest.mark.parametrize(
    "name",
    ["README.md", "CONTRIBUTING.md", "docs/aws.md", "docs/development.md", "docs/local.md", "deploy/k8s/README.md"],
)
def test_documents_name_targets_that_exist(name: str) -> None:
    """In code, where the generated parts with the commands of earlier measurements are left out."""
    text = re.sub(r"\[\[\[cog.*?\[\[\[end\]\]\]", "", (ROOT / name).read_text(), flags=re.DOTALL)
    named = re.findall(r"(?:^|`)make ([a-z0-9-]+)((?: [a-z0-9-]+)*)", text, re.MULTILINE)
    targets = {target for first, others in named for target in (first, *others.split())}
    assert targets
    assert targets <= TARGETS | {"help"}
