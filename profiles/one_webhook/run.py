"""Starts the service and the embedded queue, warms the service up, and traces one webhook."""

import asyncio
import json
import os
import signal
import tempfile
import time
from http import HTTPStatus
from pathlib import Path

from app.settings import Release, load_settings
from local.chargebee.sender import open_session, post
from local.launch import start_service
from local.sample_events import default_file, fresh_events
from profiles.one_webhook.counter import Call, Task, Trace, callback, without_callbacks

WARM = 50  # webhooks before the trace
# Periodic work of the service, such as uvicorn's tick, runs at least once in this time.
IDLE_SECONDS = 2.5
AFTER_SECONDS = 0.5  # from the response to the end of the trace, because the log line is written after 0.1 s
PATIENCE_SECONDS = 30.0


def trace(release: Release) -> Trace:
    """Returns the trace of one webhook, without the service's periodic work.

    The service handles no other webhook at the same time, so the trace contains a whole call to SQS. Under load, up to
    ten webhooks share such a call (in v09 and later).
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "traces.json"
        command = ["profiles.one_webhook.traced", str(file)]
        variables = {"APP_RELEASE": release.value, "APP_LOG_LEVEL": "INFO", "APP_LOG_FORMAT": "json"}
        with start_service(Path(folder), variables | {"APP_METRICS_PORT": "0"}, command=command) as run:
            assert run.url is not None
            idle, webhook = asyncio.run(_traces(run.url, file))
    return without_callbacks(webhook, {callback(idle, index) for index in range(len(idle.calls))})


async def _traces(url: str, file: Path) -> list[Trace]:
    """Returns a trace of the idle service, and a trace in which it handles one webhook."""
    service = int(file.with_suffix(".pid").read_text(encoding="utf-8"))
    webhook, *warm = fresh_events(default_file().read_bytes(), WARM + 1)
    async with open_session(url, load_settings(), connections=1) as client:
        for body in warm:
            await post(client, body)
        await asyncio.sleep(AFTER_SECONDS)
        os.kill(service, signal.SIGUSR1)
        await asyncio.sleep(IDLE_SECONDS)
        os.kill(service, signal.SIGUSR1)
        await asyncio.to_thread(_wait_for, file, 1)
        reply = await post(client, webhook)
        assert reply.status == HTTPStatus.OK
        await asyncio.sleep(AFTER_SECONDS)
        os.kill(service, signal.SIGUSR1)
        return await asyncio.to_thread(_wait_for, file, 2)


def _wait_for(file: Path, number: int) -> list[Trace]:
    end = time.monotonic() + PATIENCE_SECONDS
    while not file.exists() or len(traces := json.loads(file.read_text(encoding="utf-8"))) < number:
        if time.monotonic() > end:
            raise TimeoutError(f"the service wrote no trace within {PATIENCE_SECONDS:.0f} s")
        time.sleep(0.05)
    return [
        Trace([Call(*call) for call in calls], awaits, [Task(*task) for task in tasks])
        for calls, awaits, tasks in traces
    ]
