"""The schema of measurements: `meta.json` of an attack, and the JSON file of a comparison."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Load(_Record):
    """`users` None: an open loop of `rate` requests a second; else a closed loop of that many users."""

    rate: int
    duration_s: float
    timeout_s: float
    users: int | None = None
    keepalive: bool = True


class Environment(_Record):
    """See `loadtest.record.meta`. `commit` ends in -dirty where the code differs from that commit."""

    commit: str
    started: str
    machine: dict[str, str]
    tools: dict[str, str]


class Audit(_Record):
    """See `loadtest.fire.audit`."""

    accepted: int
    lost: list[str]
    unasked: int
    altered: int
    duplicates: int
    late: int

    @property
    def holds(self) -> bool:
        return not self.lost and not self.unasked and not self.altered


class Latencies(_Record):
    """Milliseconds, over all requests, failed ones too."""

    fastest: float
    mean: float
    p50: float
    p90: float
    p99: float
    slowest: float


class Probes(_Record):
    """Latency of /healthz on new connections during an attack, in milliseconds. `failed`: no 200 within 30 s."""

    number: int
    failed: int
    p50: float
    p99: float
    slowest: float


class Conditions(_Record):
    """What else was going on during an attack. Cores are averages.

    `late_ms`: 99 % of an open loop's requests left at most that late; `ping_ms`: median response of the queue through
    toxiproxy. `doubts`: why the attack may have measured something else, a line each.
    """

    foreign_cores: float
    stolen_cores: float
    queue_cores: float
    late_ms: float | None
    ping_ms: float | None
    doubts: list[str]


class Used(_Record):
    """The budget and what was used of it. `ready_s`: from the start of the process to the first 200 from readyz."""

    budget: str
    how: str
    limited: bool
    cpus: float | None
    memory_mib: float | None
    cpu_s: float
    cpu_ms_per_accepted: float | None
    peak_mib: float | None
    ready_s: float


class Measurement(_Record):
    """One attack. `used` and `sqs` are None for a service at --url, `audit` without a --queue-url.

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
    errors: list[str]
    rps: float
    latencies: Latencies
    probes: Probes | None = None
    conditions: Conditions | None = None
    distribution: list[tuple[float, float]]
    audit: Audit | None

    @property
    def success(self) -> float:
        """Percentage of the requests that got 200."""
        return 100 * self.accepted / self.requests if self.requests else 0.0


class Attack(_Record):
    """`meta.json`."""

    environment: Environment
    measurement: Measurement


class Run(_Record):
    """One of the repeats of one case. `kind`: which of the attacks on the subject."""

    kind: str
    repeat: int
    measurement: Measurement


class Comparison(_Record):
    """Interleaved repeats in one run, on one commit and one machine. `title`: the command and what it compares.

    `factor`: by how much time was dilated.
    """

    title: str
    command: str
    environment: Environment
    repeats: int
    runs: list[Run]
    factor: float = 1

    def of(self, kind: str, name: str) -> list[Measurement]:
        """The repeats of one case, in order; empty where it was not run."""
        return [run.measurement for run in self.runs if (run.kind, run.measurement.name) == (kind, name)]

    def names(self, kind: str) -> list[str]:
        """The subjects of that kind, in the order of their first repeat."""
        return list(dict.fromkeys(run.measurement.name for run in self.runs if run.kind == kind))
