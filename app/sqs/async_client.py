"""Opens aioboto3's clients, and makes them verify the server's certificate as boto3's clients do.

botocore's TLS context does not check the certificate's host name, because in boto3, urllib3 checks it. aiobotocore uses
the same context with aiohttp, which does not check the name and would therefore accept a certificate of any host.
Behind a proxy, aiobotocore passes no context to aiohttp, which would then accept any certificate.
"""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aioboto3
from aiobotocore.config import AioConfig
from aiobotocore.httpsession import AIOHTTPSession
from botocore.httpsession import create_urllib3_context

from app.sqs.failures import free_attempt

_proxy_context: Any = AIOHTTPSession._setup_proxy_ssl_context


@asynccontextmanager
async def open_client(service: str, options: Mapping[str, Any]) -> AsyncIterator[Any]:
    """Yields a client of an AWS service. It connects at its first call. `options`: the options of botocore's Config."""
    # These lines change the class, not one session, because aiobotocore opens further sessions, for example to STS.
    AIOHTTPSession._get_ssl_context = _context
    AIOHTTPSession._setup_proxy_ssl_context = _context_behind_proxy
    async with aioboto3.Session().client(service, config=AioConfig(**options)) as client:
        client.meta.events.register("needs-retry", free_attempt)
        yield client


def _context(_session: AIOHTTPSession) -> ssl.SSLContext:
    context: ssl.SSLContext = create_urllib3_context()
    context.check_hostname = True
    return context


def _context_behind_proxy(session: AIOHTTPSession, proxy_url: str) -> ssl.SSLContext:
    return _proxy_context(session, proxy_url) or _context(session)
