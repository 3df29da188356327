"""The bound of a search of the webhook's path."""

from typing import NamedTuple


class Bound(NamedTuple):
    """At most this number of faults of SQS, and of special events.

    A special event is a sender that leaves, stops sending, or sends its body in parts, or a stop of the process.
    `slots`: the calls to SQS at the same time. `long_lived`: a sender may send a second webhook over its connection,
    and may pause between the parts of a body. `full`: two waiting webhooks fill a call, which needs no
    slot then.
    """

    slots: int
    faults: int
    specials: int
    webhooks: int = 3
    long_lived: bool = False
    full: bool = False
