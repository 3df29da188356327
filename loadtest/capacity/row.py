"""The result for one rate."""

from typing import NamedTuple


class Limit(NamedTuple):
    """A limit, the webhooks a second at which it is reached, and what to do then."""

    name: str
    rate: float
    remedy: str


class Row(NamedTuple):
    """What `rate` webhooks a second take. A month is one of this rate throughout.

    `calls_…`: SendMessageBatch a second, with batches that are full (`per_call`), as full as the pods make them
    (`calls_expected`), or of one message. `dollars_…`: a month; `dollars_worker` adds receiving and deleting in full
    batches to `dollars_expected`. `gbit_in`: bodies; `gbit_out`: the JSON of the calls; both without HTTP heads,
    TLS and TCP. `queues`: so that each stays within its messages in flight. `partitions`: of a FIFO queue in
    high-throughput mode (or, without it, so many queues), where all messages of a batch are of one partition;
    `partitions_most`: where each is of another, as calls of one message are. `regions`: those whose FIFO quota is at
    least `calls_expected` of FIFO. `sites`: of Chargebee, whose API limits on Enterprise add up to the worker's calls.
    """

    rate: float
    fifo: bool
    processing: float
    webhooks_a_month: float
    cores: float
    pods: int
    per_call: int
    calls_full: float
    calls_expected: float
    calls_single: float
    in_flight: float
    queues: int
    partitions: int
    partitions_most: int
    regions: tuple[str, ...]
    dollars_full: float
    dollars_expected: float
    dollars_single: float
    dollars_worker: float
    gbit_in: float
    gbit_out: float
    dollars_nat: float
    dollars_endpoint: float
    sites: int
    limits: tuple[Limit, ...]

    @property
    def first(self) -> Limit | None:
        """The limit that is met first on the way to this rate, if any is."""
        return self.limits[0] if self.limits[0].rate < self.rate else None
