"""What the page shows, and how it is told: a line of JSON on its standard input."""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class ShownService:
    """A service. `sqs`: where its embedded queue takes a delay (see `local.delay`), `ca_bundle` with TLS.

    `metrics`: the URL of its Prometheus text; without, only its probes are shown. `user` and `password` are of the
    webhooks that the buttons send; `chargebee`: the stand-in that has to know their invoices before.
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
        """What the page may know of it."""
        return {"name": self.name, "change": self.change, "cost": self.cost, "url": self.url}


@dataclass(frozen=True)
class PageConfig:
    """What to show: one service, or several side by side. `port` 0 picks a free one; `delay`: of SQS, in seconds."""

    services: list[ShownService]
    port: int = 0
    delay: float = 0.0

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def takes_webhooks(services: list[ShownService]) -> bool:
    """Whether the buttons have somewhere to send them: a service with an embedded queue."""
    return all(service.sqs is not None for service in services)


def parse(line: bytes) -> PageConfig:
    """The config of `PageConfig.line`."""
    fields = json.loads(line)
    return PageConfig(**fields | {"services": [ShownService(**service) for service in fields["services"]]})
