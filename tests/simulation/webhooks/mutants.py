"""Faults that are planted in the webhook's path, one at a time. The search must find each."""

from tests.simulation.mutants import PATH, Mutant

PATH_MUTANTS = (
    Mutant(
        "every outcome is a 200",
        "web/callbacks.py",
        'if refused is None:\n            self._guard(self._accept, "queued")',
        'if True:\n            self._guard(self._accept, "queued")',
        PATH,
    ),
    Mutant(
        "a message that SQS does not mention counts as sent",
        "sqs/queue.py",
        "for name in ids if name not in acknowledged}",
        "for name in ids if name in codes}",
        PATH,
    ),
    Mutant(
        "a message that failed and succeeded counts as sent",
        "sqs/queue.py",
        "if has_message_id(entry)} - codes.keys()",
        "if has_message_id(entry)}",
        PATH,
    ),
    Mutant(
        "outcomes reach the messages in the wrong order",
        "sqs/group_commit.py",
        "zip(batch, await self._call(batch), strict=True)",
        "zip(batch[::-1], await self._call(batch), strict=True)",
        PATH,
    ),
    Mutant(
        "each message of an answered call counts as sent",
        "sqs/group_commit.py",
        "self._pending.settle(pending, outcome)",
        "self._pending.settle(pending, None)",
        PATH,
    ),
    Mutant(
        "a body loses its last byte on its way to SQS",
        "sqs/message.py",
        '"MessageBody": self.body,',
        '"MessageBody": self.body[:-1],',
        PATH,
    ),
    Mutant(
        "a deadline is a second late",
        "sqs/pending.py",
        "call_at(oldest.deadline, self._check)",
        "call_at(oldest.deadline + 1, self._check)",
        PATH,
    ),
    Mutant(
        "a message in a call counts as not sent",
        "sqs/group_commit.py",
        'too_late("Timeout", sent=pending.in_call)',
        'too_late("Timeout", sent=False)',
        PATH,
    ),
    Mutant(
        "a free slot takes no waiting message",
        "sqs/group_commit.py",
        "        self._sending.discard(task)\n        self._fill_slots()\n",
        "        self._sending.discard(task)\n",
        PATH,
    ),
    Mutant(
        "a permit is not released",
        "web/callbacks.py",
        "            self._permit.release()\n",
        "            pass\n",
        PATH,
    ),
    Mutant(
        "a sender that has left is answered",
        "web/server/exchange.py",
        "if connection is None or self.disconnected:",
        "if connection is None:",
        PATH,
    ),
    Mutant(
        "a stopped webhook is answered again",
        "web/callbacks.py",
        "        if self not in self._door.open:\n            return  # `stop` has answered this webhook\n",
        "",
        PATH,
    ),
    Mutant(
        "bytes of a body are not returned",
        "web/gate/admission.py",
        "        self.buffered_bytes -= size\n",
        "",
        PATH,
    ),
)
