"""The locks, and the check that they install from wheels alone."""

import re
import sys
from pathlib import Path

import pytest

import locks
import wheels
from install import text_of

ROOT = Path(__file__).parents[2]
# Stands in for uv: fails for the Macs of ARCH if the lock is not app.lock.
RESOLVER = "import sys; print('a==1'); sys.exit('aarch64-apple' in sys.argv[2] and 'app.lock' not in sys.argv[5])"


def test_each_lock_includes_the_one_before() -> None:
    """A package has hashes, no lock has an address, and no package is in two locks."""
    for name in locks.SETS:
        text = (ROOT / locks.LOCKS / f"{name}.lock").read_text(encoding="utf-8")
        assert "://" not in text
        hashed = re.findall(r"^\S+==.* \\\n    --hash=sha256:", text, re.MULTILINE)
        assert len(hashed) == len(re.findall(r"^[a-z]", text, re.MULTILINE)) > 0
    packages = re.findall(r"^\S+==.*", text_of(ROOT / locks.LOCKS / f"{name}.lock"), re.MULTILINE)
    assert len(packages) == len(set(packages))


def test_a_package_that_differs_is_in_both() -> None:
    """A lock lists what it adds to the one before, and a package for which it has another marker."""
    sets = {"app": ["a==1\n", "b==1 ; c\n"], "local": ["a==1\n", "b==1\n"], "dev": ["a==1\n", "b==1\n", "d==1\n"]}
    assert locks.nested(sets) == {
        "app": f"{locks.HEADER}a==1\nb==1 ; c\n",
        "local": f"{locks.HEADER}-r app.lock\nb==1\n",
        "dev": f"{locks.HEADER}-r local.lock\nd==1\n",
    }


def test_a_missing_wheel(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The table shows the largest lock that installs, and the exit code is not 0."""
    monkeypatch.setattr(wheels, "RESOLVE", [sys.executable, "-c", RESOLVER])
    with pytest.raises(SystemExit, match=r"dev.lock, macOS arm64, Python 3.11:") as ended:
        wheels.main()
    assert ended.value.code
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:5]]
    assert {row[2] for row in rows} == {"dev", "app"}
    assert [row[2] for row in rows if row[1] == "arm64"] == ["app"]
