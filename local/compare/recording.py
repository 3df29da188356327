"""Starts a service that records its timeline, posts webhooks to the service, and reads the timeline."""

import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from app.errors import ConfigurationError
from app.settings import Release, WebSettings
from local import ctrl_c
from local.chargebee.sender import open_session, post
from local.compare import state_spans
from local.compare.state_spans import TimelineRow
from local.launch import no_rate_limit, start_service
from local.local_settings import load_local_settings
from local.machine import Watch
from local.sample_events import default_file, fresh_events_of
from local.seeding import seed
from profiles.instruments import TIMELINE

NONE: Mapping[str, str] = MappingProxyType({})
# Seconds of latency added to each call to SQS. Without added latency, the embedded queue answers within two
# milliseconds, and the timeline would hardly show that threads or webhooks wait for SQS.
SQS_DELAY = 0.1


class Sent(NamedTuple):
    """A webhook that was sent at the time `began` and answered at the time `ended`.

    The sender measured both times, in seconds of the monotonic clock, which `StateSpan` also uses.
    """

    event_id: str
    began: float
    ended: float
    status: int


class Recording(NamedTuple):
    """A timeline that a release has recorded, and the webhooks that were sent to this release.

    `doubts` names other work that the machine did during the recording. Such work changes how long threads and webhooks
    wait, but not what they wait for.
    """

    name: str
    sent: list[Sent]
    rows: list[TimelineRow]
    doubts: list[str]

    @property
    def began(self) -> float:
        return min(one.began for one in self.sent)

    @property
    def seconds(self) -> float:
        return max(one.ended for one in self.sent) - self.began

    @property
    def statuses(self) -> Counter[int]:
        return Counter(one.status for one in self.sent)


def record(release: Release, settings: WebSettings, webhooks: int, variables: Mapping[str, str] = NONE) -> Recording:
    """Starts a service with the given release, posts webhooks to it, and returns the recorded timeline.

    `webhooks` is the number of webhooks to generate and to post at once. `variables` are environment variables of the
    service. Each call to SQS takes `delay()` seconds longer, unless `variables` set another delay. Raises
    ConfigurationError if the service does not start, or if its timeline is incomplete.
    """
    name = ", ".join([release.value, *map("=".join, variables.items())])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "timeline.json"
        slowed = {"APP_LOCAL_SQS_DELAY": str(delay()), **no_rate_limit()}
        environment = {**slowed, **variables, "APP_RELEASE": release.value, TIMELINE: str(file)}
        bodies = list(fresh_events_of([default_file()], webhooks))
        with start_service(Path(folder), environment) as run:
            assert run.url is not None
            if not release.enqueues:
                seed(run, bodies)
            with Watch() as watch:
                sent = ctrl_c.run(_post(run.url, settings, bodies))
        try:
            timeline = state_spans.read(file)
        except (FileNotFoundError, ValueError):
            cure = "use fewer webhooks (--count), a shorter APP_LOCAL_SQS_DELAY, or a longer APP_GRACEFUL_TIMEOUT"
            raise ConfigurationError(f"{name}: the service ended before it wrote its timeline: {cure}") from None
        return Recording(name, sent, timeline, watch.busy.doubts())


def delay() -> float:
    """Returns the value of APP_LOCAL_SQS_DELAY in seconds, or SQS_DELAY if the variable is not set."""
    options = load_local_settings()
    return options.sqs_delay if "sqs_delay" in options.model_fields_set else SQS_DELAY


async def _post(url: str, settings: WebSettings, bodies: list[bytes]) -> list[Sent]:
    async def send(body: bytes) -> Sent:
        began = time.monotonic()
        reply = await post(client, body)
        return Sent(json.loads(body)["id"], began, time.monotonic(), reply.status)

    async with open_session(url, settings, connections=0) as client:
        return await asyncio.gather(*map(send, bodies))
