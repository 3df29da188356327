"""Starts one DynamoDB and one stand-in for all tests of this folder, and gives each test its own table."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import boto3
import pytest

from app.billing import dynamodb, processing, rate
from app.billing.processing import Billing, open_billing
from app.billing.schema import set_up
from app.from_settings import billing_access
from app.settings import WorkerSettings
from local import embedded_aws
from local.chargebee.chargebee_start import ChargebeeApi, start
from local.embedded_aws import EmbeddedAws
from tests.billing.stage import Stage

FAST = 10_000_000  # calls a minute, where a test is not about their rate
PATIENCE = 60  # seconds for a call of the emulator, which a busy machine may stop for longer than AWS ever takes
OpenBilling = Callable[..., AbstractAsyncContextManager[Billing]]


@pytest.fixture(scope="session")
def embedded() -> Iterator[EmbeddedAws]:
    with embedded_aws.start() as aws:
        yield aws


@pytest.fixture(scope="session")
def api() -> Iterator[ChargebeeApi]:
    with start(rate=FAST) as running:
        yield running


@contextmanager
def open_stage(embedded: EmbeddedAws, api: ChargebeeApi) -> Iterator[Stage]:
    """Opens a stage with a table of its own, and sets the variables of the embedded AWS until the context ends."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in embedded.environment().items():
            patch.setenv(name, value)
        for module, name in ((dynamodb, "CALL_SECONDS"), (processing, "RELEASE_SECONDS"), (rate, "LATE")):
            patch.setattr(module, name, PATIENCE)
        name = f"billing-{uuid.uuid4().hex}"
        set_up(name)
        client = boto3.client("dynamodb")
        made = Stage(client, name, api, [])
        made.behave(rate=FAST, latency=0, errors=0, seed=0, idempotency_seconds=1800, renumber=False)
        yield made
        client.close()


@pytest.fixture
def stage(embedded: EmbeddedAws, api: ChargebeeApi) -> Iterator[Stage]:
    with open_stage(embedded, api) as opened:
        yield opened


def settings_of(stage: Stage, **others: Any) -> WorkerSettings:
    ours: dict[str, Any] = {
        "billing_table": stage.table,
        "chargebee_url": stage.api.url,
        "chargebee_api_key": stage.api.api_key,
        "chargebee_rate": 1_000_000,
    }
    return WorkerSettings(**(ours | others))


@pytest.fixture
def billing(stage: Stage) -> OpenBilling:
    """Opens the work of one worker: `async with billing("worker-1", billing_lease=30) as worker`."""

    @asynccontextmanager
    async def opened(owner: str = "worker-1", **settings: Any) -> AsyncIterator[Billing]:
        stage.calls.clear()
        access = billing_access(settings_of(stage, **settings))
        async with open_billing(access, owner, stage.calls.append) as running:
            yield running

    return opened


@pytest.fixture
async def faulty(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """Yields the URL of a server that answers every request with the same bytes, and closes the connection."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.write(request.param)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
