"""Starts the lab, and the processes that run beside the lab during an attack: the slow upstream, and Postgres."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from lab.stand_ins import postgres, upstream
from lab.stand_ins.postgres import Postgres
from lab.stand_ins.upstream import RunningUpstream
from loadtest.stage.subject import AttackSubject


@dataclass(frozen=True)
class Beside:
    """The processes beside the lab, outside its CPU budget: the upstream, and a database if the lab needs one."""

    upstream: RunningUpstream
    database: Postgres | None

    def environment(self, database: bool) -> dict[str, str]:
        """Returns the environment variables that tell the lab the addresses of these processes.

        If `database` is False, the lab opens no connection pool, because a pool's threads would count as the lab's.
        """
        ours = {"APP_LAB_UPSTREAM_URL": self.upstream.url, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        if database:
            assert self.database is not None
            ours["APP_LAB_DATABASE_URL"] = self.database.url
        return ours


@contextmanager
def open_beside(database: bool) -> Iterator[Beside]:
    """Runs the upstream inside the context, and also an empty Postgres if `database` is true.

    Raises ConfigurationError if one of them does not start, for example because Postgres' programs are not installed.
    """
    with upstream.start() as far, postgres.start() if database else nullcontext() as started:
        yield Beside(far, started)


def lab(name: str, workers: int, variables: dict[str, str]) -> AttackSubject:
    """Returns the lab with `workers` processes. It has no readiness probe, so it is ready if /openapi.json answers."""
    command = [sys.executable, "-m", "lab", "--workers", str(workers)]
    return AttackSubject(name, command, variables, enqueues=False, port="APP_LAB_PORT", ready="/openapi.json")
