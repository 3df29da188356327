"""The throw-away Postgres: who may use it, and when it ends."""

from pathlib import Path

import psutil
import psycopg
import pytest

from lab.stand_ins.postgres import start
from tests.harness.processes import alive


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
