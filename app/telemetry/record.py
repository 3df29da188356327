"""What is known of one webhook, from its head to its response. Written by `app.web`, read by the log."""

from dataclasses import dataclass

from app.events import Event, UnwantedEvent

# The client disconnected, or an unexpected exception, whose traceback is in the log.
UNANSWERED = "unanswered"


@dataclass(slots=True)
class WebhookRecord:
    """Filled in while the webhook is handled. Times in seconds of `time.perf_counter`.

    `outcome`: `queued`, `ignored`, `unanswered`, or the slug of a refusal (`app.web.problems`), which also has a
    `status`. `cause`, `delivery`: of a webhook that SQS did not acknowledge.
    """

    began: float
    outcome: str = UNANSWERED
    status: int | None = None
    answered: float | None = None
    event: Event | UnwantedEvent | None = None
    body_bytes: int = 0
    cause: str | None = None
    delivery: str | None = None
