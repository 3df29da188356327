"""Tests what the commands do before their large imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from loadtest.stage.queues import QueueProcess
from tests.harness.service import Web, clean_environment, environment

# Stands in for click, which each command imports: Ctrl-C arrives while it is being imported.
CLICK = "import signal\nsignal.raise_signal(signal.SIGINT)\n"


@pytest.mark.parametrize("module", ["app", "local", "lab"])
def test_ctrl_c_while_importing(module: str, tmp_path: Path) -> None:
    """The command ends at once, without a traceback."""
    (tmp_path / "click.py").write_text(CLICK, encoding="utf-8")
    environment = clean_environment() | {"PYTHONPATH": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-m", module], env=environment, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_ctrl_c_after_importing() -> None:
    """KeyboardInterrupt is raised again, so that the command can clean up."""
    code = (
        "import signal\nfrom app.starting import importing\nwith importing(): pass\nsignal.raise_signal(signal.SIGINT)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert ended.stderr.endswith("\nKeyboardInterrupt\n")


def test_closed_standard_files(aws: QueueProcess) -> None:
    """The service starts and stops although standard input and output are closed; no socket gets their numbers."""
    command = ["bash", "-c", 'exec "$@" <&- >&-', "bash", sys.executable, "-m", "app", "web"]
    settings = environment(aws.endpoint, f"{aws.endpoint}/000000000000/closed", drain_delay=0)
    with Web(settings, command=command) as web:
        assert web.stop() == 0
