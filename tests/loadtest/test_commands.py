"""`python -m loadtest`: its commands, and the tools that they find."""

import subprocess
import sys
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from app.errors import ConfigurationError
from loadtest import interleaved
from loadtest.__main__ import NAMES, main
from loadtest.record.folders import ROOT
from loadtest.stage import tools


def test_help_lists_every_measurement() -> None:
    """The help has each name with a line. It loads no measurement and no large package, so it answers at once."""
    command = [sys.executable, "-X", "importtime", "-m", "loadtest", "--help"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True, timeout=60)
    lines = [line.split() for line in ended.stdout.splitlines() if line.startswith("  ")]
    assert set(NAMES) <= {words[0] for words in lines if len(words) > 1}
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert imported.isdisjoint({"fastapi", "boto3", "pydantic"})
    assert imported.isdisjoint({f"loadtest.{name.replace('-', '_')}" for name in NAMES})


def test_every_measurement_is_a_command() -> None:
    """Each listed name has a module with a command, and each such module is listed."""
    modules = {
        file.stem for file in (ROOT / "loadtest").glob("*.py") if "@click.command" in file.read_text(encoding="utf-8")
    }
    assert {name.replace("-", "_") for name in NAMES} == modules - {"__main__"}
    for module in modules - {"__main__"}:
        assert isinstance(import_module(f"loadtest.{module}").main, click.Command)


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the command that installs the packages. `make run` installs fewer than the load test needs."""
    monkeypatch.setitem(sys.modules, "loadtest.shares", None)
    ended = CliRunner().invoke(main, ["shares"])
    assert (ended.exit_code, ended.output.count("Error")) == (2, 1)
    assert "make .venv/dev" in ended.output


def test_which_need_more_than_a_laptop_s_packages() -> None:
    """Only the replays of the history import what draws pictures, which `make .venv/local` does not install."""
    program = (
        "import sys; from loadtest.__main__ import NAMES, main\n"
        "sys.modules |= dict.fromkeys(('altair', 'jinja2', 'markdown_it', 'vl_convert'))\n"
        "for name in NAMES:\n    try: main.get_command(None, name)\n    except Exception: print(name)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert ended.stdout.split() == ["history", "calibrated"]


def test_the_readme_has_every_measurement() -> None:
    """The README names each command as a user types it."""
    readme = (ROOT / "loadtest" / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"python -m loadtest {name}" not in readme] == []


def test_an_unknown_measurement() -> None:
    """The exit code is 2."""
    ended = CliRunner().invoke(main, ["horoscope"])
    assert (ended.exit_code, "No such command 'horoscope'" in ended.output) == (2, True)


def test_results_have_the_command_that_repeats_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded command has its arguments, quoted for a shell."""
    monkeypatch.setattr(sys, "argv", ["/x/__main__.py", "bench", "--only", "v10_lean_client observed"])
    assert interleaved.called() == "python -m loadtest bench --only 'v10_lean_client observed'"
    monkeypatch.setattr(sys, "argv", ["/x/__main__.py", "soak"])
    assert interleaved.called("--seed", "7") == "python -m loadtest soak --seed 7"
    monkeypatch.setattr(sys, "argv", ["loadtest", "soak", "--seed", "7"])
    assert interleaved.called("--seed", "7") == "python -m loadtest soak --seed 7"


def test_tools_that_are_built_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """They need not be on PATH."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    tools.provide("vegeta", "toxiproxy-server")
    ended = subprocess.run(["vegeta", "-version"], capture_output=True, encoding="utf-8", check=True)
    assert "Version" in ended.stdout


def test_a_tool_that_cannot_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the tool and what would build it."""
    monkeypatch.setattr(tools, "BIN", ROOT / "loadtest" / "tools" / "absent")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(ConfigurationError, match=r"^vegeta is not on PATH, and `make loadtest/tools/absent/vegeta`"):
        tools.provide("vegeta")
