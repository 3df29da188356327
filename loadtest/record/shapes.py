"""The schema of a measurement."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Load(Record):
    """A load: an open loop of `rate` requests a second or, if `users` is not None, a closed loop of `users` users."""

    rate: int
    duration_s: float
    timeout_s: float
    users: int | None = None
    keepalive: bool = True


class Audit(Record):
    """The result of an audit: see `loadtest.fire.queue_audit`."""

    accepted: int
    lost: list[str]
    unasked: int
    altered: int
    duplicates: int
    late: int

    @property
    def holds(self) -> bool:
        return not self.lost and not self.unasked and not self.altered


class Latencies(Record):
    """Latencies in ms of all requests, including failed requests. Older results have no `p95`."""

    fastest: float
    mean: float
    p50: float
    p90: float
    p95: float | None = None
    p99: float
    slowest: float


class ProbeLatencies(Record):
    """Latencies in ms of the probes during an attack, each on a new connection. `path`: the path of the probes.

    `number`: all probes. `failed`: probes without a healthy response within 30 s. The latencies leave out failed
    probes, and are None if all probes failed. (Up to commit 39adb59, latencies included failed probes.)
    """

    path: str = "/healthz"
    number: int
    failed: int
    p50: float | None = None
    p99: float | None = None
    slowest: float | None = None


class Conditions(Record):
    """The conditions of an attack: the other work on the machine, the generator, and the queue.

    `foreign_cores`: the average number of cores that other processes used, or None for a service at --url or in a
    container of Docker, because one of the other processes may be this service. `stolen_cores`: the average number of
    cores that other virtual machines used. `queue_cores`: the average number of cores that the queue used. `late_ms`:
    the 99th percentile of how late an open loop sent its requests, or None for a closed loop. `ping_ms`: the queue's
    median response time through toxiproxy. `queue_cores` and `ping_ms` are None for a service at --url. `slowdown`: see
    `local.machine.Busy`; None in older results. `doubts`: a line for each reason why the attack may have measured
    something else.
    """

    foreign_cores: float | None
    stolen_cores: float
    queue_cores: float | None
    late_ms: float | None
    ping_ms: float | None
    slowdown: float | None = None
    doubts: list[str]


class Used(Record):
    """The budget, and how much of it the subject used. `how`: the mechanism that enforces the budget.

    `limited`: whether this mechanism limits the CPU. `ready_s`: seconds from the start of the process to the first 200
    from its readiness path (`AttackSubject.ready`).
    """

    budget: str
    how: str
    limited: bool
    cpus: float | None
    memory_mib: float | None
    cpu_s: float
    cpu_ms_per_accepted: float | None
    peak_mib: float | None
    ready_s: float


class Measurement(Record):
    """One attack. `used` and `sqs` are None for a service at --url.

    `request`: the method and path of the requests, or None for webhooks. `busiest`: for a service at --url, the cores
    that its busiest process used (see `loadtest.stage.stage_listener`). None if the load test has started the service,
    or if no process of the service is visible on this machine.

    `audit`: None for a service at --url without --queue-url, for an `AttackSubject` with `enqueues=False`, and in
    the lab.

    `distribution`: pairs of percentile and latency in ms.
    """

    name: str
    release: str | None = None
    flags: dict[str, str] = {}
    load: Load
    body_bytes: int
    sqs: dict[str, Any] | None = None
    used: Used | None = None
    requests: int
    accepted: int
    statuses: dict[str, int]
    request: str | None = None
    busiest: float | None = None
    errors: list[str]
    rps: float
    latencies: Latencies
    probes: ProbeLatencies | None = None
    conditions: Conditions | None = None
    distribution: list[tuple[float, float]]
    audit: Audit | None

    @property
    def success(self) -> float:
        """Returns the percentage of requests that succeeded: with a 200 or, if `request` is not None, with any 2xx."""
        return 100 * self.accepted / self.requests if self.requests else 0.0
