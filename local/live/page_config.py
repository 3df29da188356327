"""The page's configuration, which its process reads from standard input as one line of JSON."""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class ShownService:
    """A service that the page shows.

    `metrics`: the URL of the service's Prometheus text; without it, the page shows probes only. `sqs`: the URL that
    sets the latency of the service's queue (see `local.delay`), with `ca_bundle` for TLS. The buttons send webhooks as
    `user` with `password`, and first register the invoices at the stand-in `chargebee`.
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
        """Returns the fields that the page gets; it must not get the password."""
        return {"name": self.name, "change": self.change, "cost": self.cost, "url": self.url}


@dataclass(frozen=True)
class PageConfig:
    """The services, shown side by side; `port` 0 picks a free port; `delay`: the initial latency of SQS in seconds."""

    services: list[ShownService]
    port: int = 0
    delay: float = 0.0

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def takes_webhooks(services: list[ShownService]) -> bool:
    """Returns whether the page has buttons, which need services with an embedded queue."""
    return all(service.sqs is not None for service in services)


def parse(line: bytes) -> PageConfig:
    """Parses the line that `PageConfig.line` has made."""
    fields = json.loads(line)
    return PageConfig(**fields | {"services": [ShownService(**service) for service in fields["services"]]})
