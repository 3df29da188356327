"""Defines the cases that are measured. A case is one endpoint of the lab under one load."""

from dataclasses import dataclass, field
from urllib.parse import urlencode

from lab.measurement.beside import lab
from lab.measurement.case_target import Target, event
from loadtest.record.shapes import Load
from loadtest.stage.subject import AttackSubject

# The parameters of the first request and of the warm-up. With the parameters of the case, an endpoint that blocks the
# event loop would need minutes for the warm-up.
SHORT = {"ms": "10", "fib": "10"}


def users(number: int, duration_s: float, timeout_s: float = 30, *, keepalive: bool = True) -> Load:
    """Returns a closed loop: each of `number` users sends the next request after the previous answer."""
    return Load(rate=0, duration_s=duration_s, timeout_s=timeout_s, users=number, keepalive=keepalive)


@dataclass(frozen=True)
class EndpointCase:
    """One endpoint of the lab under one load. `name` is unique in the study of the case.

    `body`: True if the body of each request is the load test's event. `variables`: the APP_LAB_ variables of the lab.
    `quick`: True if a trial run includes this case.
    """

    name: str
    path: str
    load: Load
    query: dict[str, str] = field(default_factory=dict)
    method: str = "GET"
    body: bool = False
    workers: int = 1
    budget: str = "none"
    database: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    quick: bool = False

    @property
    def subject(self) -> AttackSubject:
        """Returns the lab with the workers and the variables of this case."""
        return lab(self.name, self.workers, self.variables)

    @property
    def requested(self) -> str:
        """Returns method, path and query, as in `GET /sync_baseline?ms=1000`."""
        return f"{self.method} {self._path(self.query)}"

    def target(self, url: str, *, short: bool = False) -> Target:
        """Returns the request to the lab at `url`, with the parameters SHORT if `short` is True."""
        query = {name: SHORT.get(name, value) if short else value for name, value in self.query.items()}
        return Target(self.method, url + self._path(query), event() if self.body else b"")

    def _path(self, query: dict[str, str]) -> str:
        return f"{self.path}?{urlencode(query)}" if query else self.path
