"""What the page shows, and how it is told: a line of JSON on its standard input."""

import json
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Subject:
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
class Order:
    """What to show: one service, or several side by side. `port` 0 picks a free one; `delay`: of SQS, in seconds."""

    subjects: list[Subject]
    port: int = 0
    delay: float = 0.0

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


def takes_webhooks(subjects: list[Subject]) -> bool:
    """Whether the buttons have somewhere to send them: a service with an embedded queue."""
    return all(subject.sqs is not None for subject in subjects)


def parse(line: bytes) -> Order:
    """The order of `Order.line`."""
    fields = json.loads(line)
    return Order(**fields | {"subjects": [Subject(**subject) for subject in fields["subjects"]]})
