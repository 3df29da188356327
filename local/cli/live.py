"""`python -m local live`: the live page's process, which `web`, `race` and `doctor` start."""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import aiohttp
import click
from loguru import logger
from pydantic import SecretStr
from starlette.applications import Starlette

from app.errors import ConfigurationError
from app.settings import Settings, load_settings
from app.telemetry.logging import configure_logging
from local.chargebee.sender import open_session, post
from local.live import process
from local.live.firing import Post
from local.live.site import create_site
from local.live.subject import Order, Subject
from local.sample_events import default_file, fresh_events_of


@click.command(hidden=True)
def live() -> None:
    """Serve the live page of the services that standard input names, until that ends."""
    settings = load_settings()
    configure_logging(settings)
    if order := process.read_order():
        try:
            process.run(order, partial(_site, settings), _announce)
        except ConfigurationError as error:  # a line of the service's log, which goes on without the page
            logger.error("{}", error)
            sys.exit(2)


def _site(settings: Settings, order: Order, port: int) -> Starlette:
    @asynccontextmanager
    async def open_post(subject: Subject) -> AsyncIterator[Post]:
        user = {"basic_auth_username": subject.user, "basic_auth_password": SecretStr(subject.password)}
        async with open_session(subject.url, settings.model_copy(update=user), connections=0) as client:
            yield partial(_post, subject.chargebee, client)

    return create_site(order, port, _bodies, open_post)


async def _post(chargebee: str | None, client: aiohttp.ClientSession, body: bytes) -> int:
    """Posts one webhook and returns the status; before, it registers the invoice at `chargebee`, if there is one."""
    if chargebee is not None:
        invoices = [{"event": json.loads(body)}]
        with suppress(aiohttp.ClientError, TimeoutError):
            await client.put(f"{chargebee}/_/invoices", json=invoices, headers={"Authorization": ""})
    return (await post(client, body)).status


def _bodies(count: int) -> Iterator[bytes]:
    return fresh_events_of([default_file()], count)


def _announce(url: str) -> None:
    """For the parent, and for whoever reads the log."""
    click.echo(url)
    logger.info("Live page on {}", url)
