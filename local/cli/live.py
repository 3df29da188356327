"""`python -m local live`: serves the live page. The commands `run` and `race` start this process."""

import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import aiohttp
import click
from loguru import logger
from pydantic import SecretStr
from starlette.applications import Starlette

from app.errors import ConfigurationError
from app.settings import WebSettings, load_settings
from app.telemetry.logging import configure_logging
from local.chargebee.sender import open_session, post
from local.live import page_process
from local.live.firing import Answer, Post
from local.live.page_config import PageConfig, ShownService
from local.live.site import create_site
from local.sample_events import default_file, fresh_events_of


@click.command(hidden=True)
def live() -> None:
    """Serve the live page until standard input ends. The first line of standard input names the services to show."""
    settings = load_settings()
    configure_logging(settings)
    if config := page_process.read_config():
        try:
            page_process.run(config, partial(_site, settings), _announce)
        except ConfigurationError as error:  # only logs one line, because the service works without the live page
            logger.error("{}", error)
            sys.exit(2)


def _site(settings: WebSettings, config: PageConfig, port: int) -> Starlette:
    @asynccontextmanager
    async def open_post(service: ShownService) -> AsyncIterator[Post]:
        user = {"basic_auth_username": service.user, "basic_auth_password": SecretStr(service.password)}
        async with open_session(service.url, settings.model_copy(update=user), connections=0) as client:
            yield partial(_post, service.chargebee, client)

    return create_site(config, port, _bodies, open_post)


async def _post(chargebee: str | None, client: aiohttp.ClientSession, body: bytes) -> Answer:
    """Posts the webhook to the service, and returns the response's status and how long the response took.

    If `chargebee` is the URL of a Chargebee stand-in, registers the webhook's invoice there before posting. The
    returned time does not include the registration.
    """
    if chargebee is not None:
        invoices = [{"event": json.loads(body)}]
        with suppress(aiohttp.ClientError, TimeoutError):
            await client.put(f"{chargebee}/_/invoices", json=invoices, headers={"Authorization": ""})
    began = time.perf_counter()
    reply = await post(client, body)
    return Answer(reply.status, time.perf_counter() - began)


def _bodies(count: int) -> Iterator[bytes]:
    return fresh_events_of([default_file()], count)


def _announce(url: str) -> None:
    """Prints the page's URL for the parent process, and logs it."""
    click.echo(url)
    logger.info("Live page on {}", url)
