"""Reads the messages of a queue in the embedded AWS without receiving them, so that their receive counts do not change.

SQS has no such request, but ministack, the emulator of AWS, offers one.
"""

import json
from urllib.parse import quote

from app.errors import ConfigurationError
from app.sqs.message import Seen
from local.http import ask


def peek(endpoint: str, queue_url: str, ca_bundle: str | None = None) -> list[Seen]:
    """Returns every message of the queue, oldest first.

    An https `endpoint` needs `ca_bundle`, a PEM file of CAs. Raises ConfigurationError if the embedded AWS does not
    answer.
    """
    path = f"/_ministack/sqs/messages?QueueUrl={quote(queue_url, safe='')}"
    try:
        accounts = json.loads(ask(endpoint, path, ca_bundle=ca_bundle))["messages"]
    except (ConfigurationError, ValueError, KeyError) as error:
        raise ConfigurationError(f"the embedded AWS at {endpoint} does not answer ({error})") from None
    queues = [queue for regions in accounts.values() for urls in regions.values() for queue in urls.values()]
    return [
        Seen(
            message["Body"],
            {name: str(value.get("StringValue")) for name, value in message["MessageAttributes"].items()},
        )
        for queue in queues
        for message in queue
    ]
