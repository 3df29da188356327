"""The schema of a measurement."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Load(Record):
    """`users` None: an open loop of `rate` requests a second; else a closed loop of that many users."""

    rate: int
    duration_s: float
    timeout_s: float
    users: int | None = None
    keepalive: bool = True


class Audit(Record):
    """See `loadtest.fire.queue_audit`."""

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
    """Milliseconds, over all requests, failed ones too. `p95` is missing in older results."""

    fastest: float
    mean: float
    p50: float
    p90: float
    p95: float | None = None
    p99: float
    slowest: float


class ProbeLatencies(Record):
    """Latency of `path` on new connections during an attack, in milliseconds. `failed`: no healthy answer within 30 s.

    The latencies are those of the answered probes, and None if no probe was answered. (Up to commit 39adb59, they
    included failed probes.)
    """

    path: str = "/healthz"
    number: int
    failed: int
    p50: float | None = None
    p99: float | None = None
    slowest: float | None = None


class Conditions(Record):
    """The other work on the machine during an attack. Numbers of cores are averages.

    `foreign_cores` is None for a service at --url or in a container of Docker, which may itself be one of the other
    processes. `queue_cores` is None for a service at --url.
    `late_ms` is the 99th percentile of how late an open loop sent its requests; None for a closed loop. `ping_ms` is
    the median response time of the queue through toxiproxy. `slowdown`: see `local.machine.Busy`; older results lack
    it. `doubts` has a line for each reason why the attack may have measured something else.
    """

    foreign_cores: float | None
    stolen_cores: float
    queue_cores: float | None
    late_ms: float | None
    ping_ms: float | None
    slowdown: float | None = None
    doubts: list[str]


class Used(Record):
    """The budget and what was used of it.

    `ready_s`: seconds from the start of the process to the first 200 from its readiness path (`AttackSubject.ready`).
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

    `request` is None for webhooks, and otherwise the method and path of what was sent. `busiest`: see
    `loadtest.stage.stage_listener`; None if the service at --url runs on another machine, or was started here.

    `audit` is None for a service at --url without a --queue-url, for a subject that enqueues nothing, and for the lab.

    `distribution`: pairs of percentile and milliseconds.
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
        """Percentage of the requests that succeeded: those that got 200, or any 2xx if `request` is not None."""
        return 100 * self.accepted / self.requests if self.requests else 0.0
