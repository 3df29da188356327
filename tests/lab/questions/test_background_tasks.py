"""Tests what happens at SIGTERM to background tasks whose clients have already got 200."""

import httpx
import psycopg
import pytest

from lab.measurement.questions.background_tasks import TIME_OUT
from lab.measurement.stage import Stage, uvicorn
from lab.questions.background_tasks import DONE
from tests.lab.questions.conftest import Until

LONG_MS = 10_000


def ended(stage: Stage, kind: str, ms: int, *options: str) -> int:
    """Returns how many tasks were finished by a process that got SIGTERM after its answer."""
    with stage.serve(uvicorn("background_tasks", *options)) as app:
        assert httpx.post(f"{app.url}/{kind}", params={"ms": ms}, timeout=60).status_code == 200
        app.end()
        return app.log.read_text(encoding="utf-8").count(DONE)


KINDS = ["awaiting", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("threads", "own"))]


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_time_out_uvicorn_waits_for_them(stage: Stage, kind: str) -> None:
    assert ended(stage, kind, 500) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_after_the_time_out_they_are_lost(stage: Stage, kind: str) -> None:
    """uvicorn has answered 200, but the work is never done."""
    assert ended(stage, kind, LONG_MS, *TIME_OUT) == 0


def test_a_row_in_a_table_is_done_by_the_next_process(stage: Stage, until: Until) -> None:
    """The first process ends in the middle of the job, which stays in the table."""
    assert stage.beside.database is not None
    ended(stage, "job", LONG_MS, *TIME_OUT)
    with psycopg.connect(stage.beside.database.url, autocommit=True) as connection:
        assert connection.execute("UPDATE jobs SET ms = 1 RETURNING done").fetchall() == [(False,)]
        with stage.serve(uvicorn("background_tasks")):
            until(lambda: connection.execute("SELECT done FROM jobs").fetchall() == [(True,)])
        connection.execute("DROP TABLE jobs")
