"""The settings of the service around the webhook's path, and its client of SQS."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from app.settings import NEWEST, WebSettings
from app.sqs.lean import LeanQueue
from app.sqs.lean_calls import ATTEMPTS
from app.sqs.queue import QueueAddress, SendLimits
from app.sqs.signing import Credentials

# `head_timeout` is shorter than `body_timeout`, so that the search notices if the deadline of a head stays too long.
SETTINGS = WebSettings.model_validate(
    {"release": NEWEST, "basic_auth_username": "user", "basic_auth_password": "password", "head_timeout": 5}
)


def lean(limits: SendLimits) -> LeanQueue:
    """Returns the real client, which knows its credentials and the queue's URL already.

    An attempt may take as long as the message's deadline. Otherwise, the end of each attempt would count as a fault,
    and no run would reach a deadline within the bound.
    """
    limits = limits._replace(deadline=ATTEMPTS * limits.deadline)
    keys = Credentials("key", "secret")
    account: Any = SimpleNamespace(endpoint=urlsplit("http://sqs.local"), tls=None, region="eu-central-1", current=keys)
    queue = LeanQueue(account, QueueAddress("invoices", None), limits)
    queue._url = "http://sqs.local/1/invoices"
    return queue
