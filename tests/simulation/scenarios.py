"""The scenarios: which events are in the queue, which workers run, and which faults may happen."""

from dataclasses import dataclass

from tests.simulation.calls import Fault
from tests.simulation.site import KEY_SECONDS

VISIBILITY = 30
STALLS = frozenset({Fault.STALLS_BEFORE, Fault.STALLS_AFTER, Fault.STALLS_WAITING})
DIES = frozenset({Fault.DIES_BEFORE, Fault.DIES_AFTER})


@dataclass(frozen=True)
class Scenario:
    """The events in the queue, and what may happen to the workers that process them.

    - `invoices`: for each invoice, the versions of its events; `copies`: how often SQS has each event.
    - `faults`: the kinds of faults; `key_seconds`: how long Chargebee keeps idempotency keys.
    - `overlapping`: all invoices are of one customer and one period.
    - `delay`: seconds until SQS delivers an invoice's second event.
    - `visibility`: the visibility timeout of a received message, which the heartbeat extends.
    - `late_billable`: when Chargebee closes an invoice, another billable event of its period is stored.
    - `renumber`: a closed invoice has another id than its draft.
    - `poison`: Chargebee has no invoice, and SQS has a body that is no event; `extra_poison`: SQS has such a body.
    """

    name: str
    invoices: tuple[tuple[int, ...], ...] = ((1,),)
    copies: int = 2
    workers: int = 2
    charges: int = 2
    rate: int = 150
    faults: frozenset[Fault] = frozenset(Fault)
    key_seconds: float = KEY_SECONDS
    overlapping: bool = False
    delay: float = 0.0
    visibility: int = VISIBILITY
    late_billable: bool = False
    renumber: bool = True
    poison: bool = False
    extra_poison: bool = False


# With this limit, a slot is never in the future. So time does not pass between two calls, and more orders of calls lead
# to the same state. With a lower limit, time passes between the slots.
UNLIMITED = 1_000_000_000
TWICE = Scenario("one event, delivered twice", rate=UNLIMITED)
# Without idempotency keys, two workers must not work at the same time, and no call may reach Chargebee late. These
# faults cause neither.
SAFE_WITHOUT_KEYS = DIES | {Fault.STALLS_AFTER, Fault.STALLS_WAITING}
# Another event of the same invoice has other idempotency keys. So a worker that stalls before its call could charge
# again.
SAFE_WITH_OTHER_KEYS = frozenset(Fault) - {Fault.STALLS_BEFORE}
# Late calls are left out, because a call that reaches Chargebee late counts in another minute than its slot.
IN_TIME = SAFE_WITHOUT_KEYS | {Fault.LOST, Fault.REPEATED}
# In this scenario, the search combines each action of an actor with each crash and each lost answer. With all faults,
# the search would take hours.
BESIDE = Scenario("one event, delivered once", copies=1, rate=UNLIMITED, faults=DIES | {Fault.LOST})
SCENARIOS = (
    TWICE,
    Scenario("without idempotency keys", faults=SAFE_WITHOUT_KEYS, key_seconds=1e-6),
    Scenario("work longer than a lease", charges=6, rate=4, faults=SAFE_WITHOUT_KEYS, key_seconds=1e-6),
    # Without a heartbeat, a worker learns from the table alone that it has lost the event.
    Scenario(
        "longer than a lease, no heartbeat",
        charges=6,
        rate=4,
        faults=SAFE_WITHOUT_KEYS,
        key_seconds=1e-6,
        visibility=300,
    ),
    # A worker that has lost its claim receives the third copy, while the other worker processes the second copy.
    Scenario(
        "three deliveries, no heartbeat",
        copies=3,
        charges=6,
        rate=30,
        faults=STALLS & SAFE_WITHOUT_KEYS,
        key_seconds=1e-6,
        visibility=300,
    ),
    Scenario("a late billable event", late_billable=True, renumber=False),
    Scenario("two versions of an invoice", ((1, 2),), copies=1, faults=SAFE_WITH_OTHER_KEYS),
    Scenario("a second version, later", ((1, 2),), copies=1, delay=12.0, faults=SAFE_WITH_OTHER_KEYS),
    Scenario("two invoices, one period", ((1,), (1,)), copies=1, overlapping=True),
    Scenario("a low rate limit", ((1,), (1,)), copies=1, rate=4, faults=IN_TIME),
    Scenario("poison", copies=1, poison=True),
    BESIDE,
)
