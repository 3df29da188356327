"""Audits an attack: for every event id that got 200, the queue must have the message exactly as sent."""

from collections import Counter
from collections.abc import Iterable

from loadtest.record.shapes import Audit


def audit(sent: dict[str, bytes], accepted: Iterable[str], received: Counter[bytes]) -> Audit:
    """Compares the sent webhooks (digests by event id), the 200s (event ids) and the queue's messages (digests).

    `lost`: webhooks that got 200, but are not in the queue as sent. `altered`: messages in the queue with bytes that
    were not sent. `unasked`: 200s for an id that was not sent, and further 200s for the same id. `late`: messages in
    the queue whose webhook got no 200. `duplicates`: further copies of a sent message. The audit succeeds (see
    `Audit.holds`) even if there are late messages and duplicates.
    """
    answers = Counter(accepted)
    unasked = sum(count - (event_id in sent) for event_id, count in answers.items())
    known = set(sent.values())
    accepted_digests = {sent[event_id] for event_id in answers if event_id in sent}
    return Audit(
        accepted=answers.total(),
        lost=sorted(event_id for event_id in answers if event_id in sent and sent[event_id] not in received),
        unasked=unasked,
        altered=sum(count for body, count in received.items() if body not in known),
        duplicates=sum(count - 1 for body, count in received.items() if body in known),
        late=sum(1 for body in received if body in known and body not in accepted_digests),
    )
