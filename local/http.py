"""Sends single HTTP requests to a stand-in on this machine."""

import http.client
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import urlsplit

from app.errors import ConfigurationError

_SECONDS = 90  # longer than 60 s, the maximum of APP_LOCAL_SQS_DELAY
_NONE: Mapping[str, str] = MappingProxyType({})


def ask(
    url: str,
    path: str,
    body: bytes | None = None,
    *,
    method: str = "GET",
    headers: Mapping[str, str] = _NONE,
    ca_bundle: str | None = None,
) -> bytes:
    """Sends one request and returns the response's body. An https `url` needs `ca_bundle`, a PEM file of CAs.

    Raises ConfigurationError if no server answers, or if the status is not 200.
    """
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_SECONDS)
    try:
        if ca_bundle is not None:
            trusted = ssl.create_default_context(cafile=ca_bundle)
            connection = http.client.HTTPSConnection(urlsplit(url).netloc, timeout=_SECONDS, context=trusted)
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        content = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise ConfigurationError(f"nothing answers at {url} ({error})") from None
    finally:
        connection.close()
    if response.status != HTTPStatus.OK:
        raise ConfigurationError(f"{method} {url}{path}: {response.status} {content[:500].decode(errors='replace')}")
    return content
