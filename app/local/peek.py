"""Reads the messages of the embedded queue by ministack's inspection, which does not count as a receive."""

import http.client
import json
import ssl
from urllib.parse import quote, urlsplit

from app.errors import ConfigurationError
from app.sqs.message import Seen


def peek(endpoint: str, queue_url: str, ca_bundle: str | None = None) -> list[Seen]:
    """Every message of the queue, oldest first; `ca_bundle` for an endpoint of https.

    Raises ConfigurationError where nothing answers.
    """
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=30)
    try:
        if ca_bundle is not None:
            trusted = ssl.create_default_context(cafile=ca_bundle)
            connection = http.client.HTTPSConnection(urlsplit(endpoint).netloc, timeout=30, context=trusted)
        connection.request("GET", f"/_ministack/sqs/messages?QueueUrl={quote(queue_url, safe='')}")
        accounts = json.load(connection.getresponse())["messages"]
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
        raise ConfigurationError(f"the embedded AWS at {endpoint} does not answer ({error})") from None
    finally:
        connection.close()
    queues = [queue for regions in accounts.values() for urls in regions.values() for queue in urls.values()]
    return [
        Seen(
            message["Body"],
            {name: str(value.get("StringValue")) for name, value in message["MessageAttributes"].items()},
        )
        for queue in queues
        for message in queue
    ]
