"""The connections to Chargebee, and the bodies of the answers that arrive on them."""

import asyncio

import aiohttp

from app.billing.access import BillingAccess
from app.errors import ChargebeeUnavailable
from app.sqs.account import proxy_of

# Maximum length of an answer from Chargebee. Even a page of 100 events with long invoices is shorter.
MAX_BYTES = 8 * 1024 * 1024


def open_session(access: BillingAccess) -> aiohttp.ClientSession:
    """Returns a session that keeps its connections open. All connections share one TLS context.

    Raises ConfigurationError if HTTPS_PROXY applies to the site but is not the URL of an HTTP proxy.
    """
    return aiohttp.ClientSession(
        access.site_url,
        # The client asks for uncompressed answers, because MAX_BYTES limits the bytes as received, not as decompressed.
        headers={
            "Authorization": aiohttp.encode_basic_auth(access.api_key.get_secret_value(), ""),
            "Accept": "application/json",
            # Chargebee compares the headers of two requests with the same idempotency key. aiohttp's own User-Agent
            # contains the versions of Python and aiohttp, which differ between two workers during an update.
            "User-Agent": "invoice-webhook",
            "Accept-Encoding": "identity",
        },
        auto_decompress=False,
        # The proxy is set here because aiohttp with `trust_env` raises an error if .netrc has credentials for the site.
        proxy=proxy_of(access.site_url),
        connector=aiohttp.TCPConnector(limit=0),  # no limit: the worker's concurrency limits the connections already
        cookie_jar=aiohttp.DummyCookieJar(),
    )


async def body_of(response: aiohttp.ClientResponse) -> bytes:
    """Returns the body of an answer. Raises ChargebeeUnavailable if the body is longer than MAX_BYTES."""
    try:
        await response.content.readexactly(MAX_BYTES + 1)
    except asyncio.IncompleteReadError as error:
        return error.partial
    raise ChargebeeUnavailable(f"Chargebee's answer is longer than {MAX_BYTES} bytes", "chargebee_unreadable")
