"""Opens aioboto3's clients, and makes them verify the server's certificate as boto3's clients do.

aiobotocore takes its TLS context from botocore, which turns the check of the host name off, because urllib3 makes the
check itself. aiohttp does not, so a certificate of any host was accepted. Behind a proxy, aiobotocore passes no context
to aiohttp, and any certificate was accepted.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aioboto3
from aiobotocore.config import AioConfig
from aiobotocore.httpsession import AIOHTTPSession
from botocore.httpsession import create_urllib3_context

from app.sqs.failures import free_attempts

_proxy_context: Any = AIOHTTPSession._setup_proxy_ssl_context


@asynccontextmanager
async def open_client(service: str, config: AioConfig) -> AsyncIterator[Any]:
    """Yields a client of an AWS service, which connects on its first call."""
    # Replaces the methods of all sessions in the process, because aiobotocore itself opens others, for example to STS.
    AIOHTTPSession._get_ssl_context = _context
    AIOHTTPSession._setup_proxy_ssl_context = _context_behind_proxy
    async with aioboto3.Session().client(service, config=config) as client:
        free_attempts(client)
        yield client


def _context(_session: AIOHTTPSession) -> ssl.SSLContext:
    context: ssl.SSLContext = create_urllib3_context()
    context.check_hostname = True
    return context


def _context_behind_proxy(session: AIOHTTPSession, proxy_url: str) -> ssl.SSLContext:
    return _proxy_context(session, proxy_url) or _context(session)
