"""The configuration of the live page, which the page's process reads from standard input as one line of JSON."""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class ShownService:
    """A service that the live page shows.

    `metrics` is the URL of the service's metrics. Without this URL, the page shows only the probes of /healthz. `sqs`
    is the URL that sets the latency of the service's queue (see `local.delay`), and `ca_bundle` is the file of CAs for
    this URL, or None without TLS. `chargebee` is the URL of a Chargebee stand-in, or None. The page links to this URL,
    because the stand-in shows the invoices there. Before a button of the page sends a webhook, it registers the
    webhook's invoice at this URL. `user` and `password` are the Basic auth of the webhooks that the buttons send.
    `waits` is the reason why webhooks wait although nothing blocks the event loop, or empty if there is none.
    """

    name: str
    change: str
    cost: str
    url: str
    metrics: str | None = None
    sqs: str | None = None
    ca_bundle: str | None = None
    chargebee: str | None = None
    user: str = "demo"
    password: str = field(default="demo", repr=False)
    waits: str = ""

    def shown(self) -> dict[str, str | None]:
        """Returns the fields that the page's script in the browser gets. The password must not be among them."""
        names = ("name", "change", "cost", "waits", "url", "chargebee")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class PageConfig:
    """The configuration of the live page, which shows `services` side by side.

    `port` 0 picks a free port. `delay` is the initial latency of SQS in seconds.
    """

    services: list[ShownService]
    port: int = 0
    delay: float = 0.0

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def takes_webhooks(services: list[ShownService]) -> bool:
    """Returns True if the page can send webhooks and set latencies, because every service has an embedded queue."""
    return all(service.sqs is not None for service in services)


def parse(line: bytes) -> PageConfig:
    """Parses the line of JSON that `PageConfig.line` returns."""
    fields = json.loads(line)
    return PageConfig(**fields | {"services": [ShownService(**service) for service in fields["services"]]})
