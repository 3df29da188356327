"""The bound of a search of the webhook's path."""

from typing import NamedTuple


class Bound(NamedTuple):
    """The limits of a search: the maximum numbers of faults of SQS and of special events.

    A special event is a sender that leaves, stops sending, or sends its body in parts, or a stop of the process.
    `slots`: the maximum number of calls to SQS in flight. `long_lived`: a sender may send a second webhook over its
    connection, and may pause between the parts of a body. `full`: two waiting webhooks fill a call, and a full call
    needs no slot.
    """

    slots: int
    faults: int
    specials: int
    webhooks: int = 3
    long_lived: bool = False
    full: bool = False
