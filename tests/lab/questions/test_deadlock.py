"""Which requests own the threads and the connections in a deadlock."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import psycopg
import pytest

from lab.measurement.stage import Stage, uvicorn
from lab.questions.deadlock import CONNECTIONS
from tests.lab.questions.client import sent
from tests.lab.questions.conftest import Until

THREADS = 2
BURST = 30
SETTINGS = {"threadpool_tokens": str(THREADS), "pool_size": str(CONNECTIONS), "pool_timeout": "300"}
STUCK = {"threads": THREADS, "connections": CONNECTIONS, "waiting_for_a_connection": THREADS}
ACTIVE = """
    SELECT count(*) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid()"""


def test_each_waits_for_what_the_others_own(stage: Stage, until: Until) -> None:
    """All threads wait for a connection, and the owners of the connections for a thread, while Postgres is idle."""
    assert stage.beside.database is not None
    with stage.serve(uvicorn("deadlock"), **SETTINGS) as app, ExitStack() as stack:
        assert httpx.get(f"{app.url}/dependency", timeout=60).status_code == 200

        def stuck() -> bool:
            """No request leaves this state. Requests that are answered before it is reached are followed by others."""
            for _ in range(BURST):
                stack.enter_context(sent(app.url, "/dependency"))
            held = httpx.get(f"{app.url}/held", timeout=60).json()
            return bool(STUCK.items() <= held.items() and held["waiting_for_a_thread"] >= CONNECTIONS)

        until(stuck)
        with psycopg.connect(stage.beside.database.url) as connection:
            assert connection.execute(ACTIVE).fetchone() == (0,)


@pytest.mark.parametrize(
    "path", ["limited", *(pytest.param(path, marks=pytest.mark.slow) for path in ("handler", "awaited"))]
)
def test_the_cures(stage: Stage, path: str) -> None:
    """With the same threads and connections, all requests of a burst are answered."""
    with stage.serve(uvicorn("deadlock"), **SETTINGS) as app, ThreadPoolExecutor(BURST) as senders:
        answers = senders.map(lambda _: httpx.get(f"{app.url}/{path}", timeout=120).status_code, range(BURST))
        assert set(answers) == {200}
