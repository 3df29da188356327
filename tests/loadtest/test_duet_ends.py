"""How a duet ends if one of its attacks fails, or after Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loadtest import duet
from loadtest.record.shapes import Measurement
from loadtest.stage.peers import floor
from loadtest.stage.subject import AttackSubject, Running

ROOT = Path(__file__).parents[2]
NAME = floor().name
# Each attack is a `vegeta` that would run for a minute.
INTERRUPTED = r"""
import os, subprocess, sys
from pathlib import Path
from loadtest import duet
from loadtest.failures import exit_on_failure
from loadtest.stage.peers import floor
from loadtest.stage.subject import Running

def attack(who, raw, begin):
    begin(Running("", 0, 0))
    os.write(1, b"began\n")  # in one piece, unlike print
    subprocess.run([sys.argv[1], "60"], check=True)

with exit_on_failure():
    duet.duets("a test", pairs=duet.pairs(floor(), []), repeats=1, file=Path(sys.argv[2]), attack=attack)
"""


@pytest.mark.parametrize("failing", [NAME, f"{NAME} {duet.AGAIN}"])
def test_the_error_is_that_of_the_failed_attack(failing: str, tmp_path: Path) -> None:
    """The other attack waits for this one, and its own error would say nothing."""

    def attack(who: AttackSubject, raw: Path, begin: Callable[[Running], object]) -> Measurement:
        if who.name == failing:
            raise ChildProcessError("the reason")
        begin(Running("", 0, 0))
        raise AssertionError("no attack begins")

    with pytest.raises(ChildProcessError, match="the reason"):
        duet.duets("a test", pairs=duet.pairs(floor(), []), repeats=1, file=tmp_path / "a.json", attack=attack)


def test_ctrl_c_ends_both_attacks(tmp_path: Path) -> None:
    """They end at once, instead of at the end of their loads."""
    fake = tmp_path / "vegeta"
    fake.symlink_to("/bin/sleep")
    command = [sys.executable, "-c", INTERRUPTED, str(fake), str(tmp_path / "a.json")]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["began\n"] * 2
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=90)
    assert time.monotonic() - began < 20
    assert (process.returncode, "interrupted" in errors) == (130, True)


def test_its_cores_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may have only some of the machine's cores, or one."""
    for allowed, cores in (({2, 3, 5}, (2, 3)), ({4}, (4, 4))):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, allowed=allowed: allowed, raising=False)
        assert duet.two_cores() == cores
