"""The page's configuration, which the page's process reads from standard input as one line of JSON."""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class ShownService:
    """A service that the page shows.

    `metrics`: the URL of the service's Prometheus text; without this URL, the page shows only the probes of /healthz.
    `sqs`: the URL that sets the latency of the service's queue (see `local.delay`). `ca_bundle`: the file of CAs for
    `sqs`, or None without TLS. `chargebee`: the URL of the stand-in where the buttons register the webhooks' invoices,
    or None. `user` and `password`: the Basic auth of the buttons' webhooks.
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

    def shown(self) -> dict[str, str]:
        """Returns the fields that the browser gets. The browser must not get the password."""
        return {"name": self.name, "change": self.change, "cost": self.cost, "url": self.url}


@dataclass(frozen=True)
class PageConfig:
    """The page shows `services` side by side. `port` 0 picks a free port. `delay`: SQS's initial latency in seconds."""

    services: list[ShownService]
    port: int = 0
    delay: float = 0.0

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def takes_webhooks(services: list[ShownService]) -> bool:
    """Returns whether the page has buttons. The buttons need an embedded queue for every service."""
    return all(service.sqs is not None for service in services)


def parse(line: bytes) -> PageConfig:
    """Parses a line that `PageConfig.line` has returned."""
    fields = json.loads(line)
    return PageConfig(**fields | {"services": [ShownService(**service) for service in fields["services"]]})
