"""Runs a throw-away Postgres: a new cluster in a temporary folder, on a free loopback port.

`start()` runs in the parent process, and starts `python -m lab.stand_ins.postgres` as a child process. The child runs
the cluster until SIGTERM, or until the parent ends. Then it removes the folder.
"""

import json
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from app.errors import ConfigurationError
from lab.stand_ins.postgres_cluster import USER, running
from local import child

DATABASE = "postgres"
_PREFIX = "invoice-webhook-postgres-"
_PATIENCE = 10.0  # seconds for the child to stop; Postgres needs some 0.2 s


class Postgres(NamedTuple):
    """A running Postgres. `url`: a URL for libpq, with the password. `pid`: the id of the server's main process."""

    url: str
    pid: int


@contextmanager
def start(folder: Path | None = None) -> Iterator[Postgres]:
    """Runs a Postgres inside the context.

    `folder`: the folder in which the temporary folder is created. If this process runs as root, the user `nobody` must
    be able to enter `folder`. Raises ConfigurationError if Postgres' programs are missing, or do not start.
    """
    # The child removes the folder. If the child was killed, this process does.
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX, dir=folder, ignore_cleanup_errors=True) as own,
        child.start("lab.stand_ins.postgres", [own], "Postgres did not start", _PATIENCE) as one,
    ):
        yield Postgres(**one.ready)


def run(folder: Path) -> None:
    """Runs the cluster in `folder` until SIGTERM, or until Postgres ends. Then removes the folder."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        password = secrets.token_hex(16)
        with running(folder, password) as (process, port):
            url = f"postgresql://{USER}:{password}@127.0.0.1:{port}/{DATABASE}"
            print(json.dumps({"url": url, "pid": process.pid}), flush=True)
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _stop(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt the clean-up
    sys.exit()


if __name__ == "__main__":
    try:
        run(Path(sys.argv[1]))
    except ConfigurationError as error:
        sys.exit(f"error: {error}")
