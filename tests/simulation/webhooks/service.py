"""The service around the webhook's path: FastAPI with the door over ASGI, uvicorn's configuration, the lean client."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from app.settings import NEWEST, WebSettings
from app.sqs.calls import ATTEMPTS
from app.sqs.lean import LeanQueue
from app.sqs.limits import SendLimits
from app.sqs.queue import QueueAddress
from app.sqs.signing import Credentials
from app.web.gate.gate import Gate
from app.web.main import create_app
from app.web.server.serve import CALLBACKS, uvicorn_config
from tests.simulation.middleware import webhooks

# With a shorter `head_timeout` than `body_timeout`, the search notices a deadline of the head that stays.
SETTINGS = WebSettings.model_validate(
    {"release": NEWEST, "basic_auth_username": "user", "basic_auth_password": "password", "head_timeout": 5}
)
# All runs share the application, because FastAPI needs milliseconds to make one.
_APP = create_app(SETTINGS)
CONFIG = uvicorn_config(_APP, SETTINGS, CALLBACKS)
CONFIG.load()


def serve_over_asgi(gate: Gate) -> None:
    """Makes the webhooks over ASGI pass `gate`. The server serves pipelined webhooks over ASGI."""
    webhooks(_APP).gate = gate


def lean(limits: SendLimits) -> LeanQueue:
    """Returns the real client, which knows its credentials and the queue's URL already.

    An attempt may take as long as the message's deadline. Otherwise, the end of each attempt would be a fault of its
    own, and no deadline would be reached within the bound.
    """
    limits = limits._replace(deadline=ATTEMPTS * limits.deadline)
    account: Any = SimpleNamespace(endpoint=urlsplit("http://sqs.local"), tls=None, region="eu-central-1")
    queue = LeanQueue(account, QueueAddress("invoices", None), limits)
    queue.credentials.current, queue._url = Credentials("key", "secret"), "http://sqs.local/1/invoices"
    return queue
