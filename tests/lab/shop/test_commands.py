"""`python -m lab --postgres` and `python -m lab postgres` start a Postgres of their own, which ends with them."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.harness.processes import alive
from tests.lab.shop.serving import SCALE, SECONDS, Lab, command, environment


def data_folder(family: list[psutil.Process]) -> Path:
    """Returns the data folder of the Postgres among these processes."""
    (arguments,) = [one.cmdline() for one in family if "-D" in one.cmdline()]
    return Path(arguments[arguments.index("-D") + 1])


@pytest.mark.slow
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGKILL])
def test_a_lab_with_a_postgres(sig: signal.Signals) -> None:
    with Lab(["--postgres", "--scale", str(SCALE)]) as lab:
        assert 1 <= lab.get("/async_select").json()["id"] <= 1000
        family = lab.family()
        folder = data_folder(family)
        lab.process.send_signal(sig)
        assert alive(family) == []
    assert not folder.exists()


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_postgres_to_use(sig: signal.Signals) -> None:
    """The command prints the variable. After a signal, it exits with 0, without an error, and no process remains."""
    with subprocess.Popen(
        [sys.executable, "-m", "lab", "postgres", "--scale", str(SCALE)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        export, _, url = process.stdout.readline().strip().partition("=")
        assert export == "export APP_LAB_DATABASE_URL"
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM users").fetchone() == (1000,)
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(sig)
        assert process.wait(SECONDS) == 0
        assert alive(family) == []
        said = process.stderr.read().splitlines()
    assert said == ["Starting Postgres", "Rows and indexes", "Ctrl-C ends it, and removes its files", ""]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--scale", "0.1"], "--scale is for --postgres"),
        (["--postgres", "setup"], "--postgres is not for setup"),
        (["setup", "--scale", "0"], "0.0001<=x<=10"),
        (["--postgres"], "not allowed with a throw-away Postgres"),
        (["postgres"], "not allowed with a throw-away Postgres"),
    ],
)
def test_contradictions(arguments: list[str], complaint: str) -> None:
    """The command exits with 2, and starts nothing. The error does not show the password."""
    done = command(*arguments, database_url="postgresql://me:s3cret@127.0.0.1:1/shop")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "s3cret" not in done.stderr
    assert (done.stdout, "Starting Postgres" in done.stderr) == ("", False)
