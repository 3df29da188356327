"""Faults that are planted in the way in which the server reads requests, one at a time. The search must find each."""

from tests.simulation.mutants import CONNECTION, Mutant

STATE_MUTANTS = (
    Mutant(
        "the next head of a sender that does not read clears its deadline",
        "web/server/deadlines.py",
        "if not (self.flow.write_paused or self.transport.is_closing()):",
        "if not self.transport.is_closing():",
        CONNECTION,
    ),
    Mutant(
        "a head behind a request has the deadline of an idle connection",
        "web/server/deadlines.py",
        "        if self.head_arriving():\n            self.head_incomplete()\n            return\n",
        "",
        CONNECTION,
    ),
    Mutant(
        "an idle connection has the deadline of a head",
        "web/server/protocol.py",
        "return self._head_begun and not self._in_body",
        "return self._head_begun",
        CONNECTION,
    ),
    Mutant(
        "a stop leaves an idle connection open",
        "web/server/deadlines.py",
        "if self._close_after_next and self._between_requests:",
        "if self.transport.is_closing():",
        CONNECTION,
    ),
    Mutant(
        "a stop drops a request that is arriving",
        "web/server/deadlines.py",
        "elif self._head_begun or has_unread(self):",
        "elif has_unread(self):",
        CONNECTION,
    ),
    Mutant(
        "a stop resets a connection whose body is unread",
        "web/server/cycle.py",
        '        cycle.scope["headers"].append(CLOSE_HEADER)\n',
        "        pass\n",
        CONNECTION,
    ),
    Mutant(
        "the last request is answered and its unread body resets the connection",
        "web/problems.py",
        "if not (self.linger or (self.unread and _closes(scope))):",
        "if not self.linger:",
        CONNECTION,
    ),
    Mutant(
        "a body that ends after its answer stays incomplete",
        "web/server/protocol.py",
        "            end_body(self.cycle)\n",
        "",
        CONNECTION,
    ),
    Mutant(
        "a late head gets no answer",
        "web/server/deadlines.py",
        "            self.transport.write(_REQUEST_TIMEOUT)\n",
        "            pass\n",
        CONNECTION,
    ),
    Mutant(
        "a body has eight times as long",
        "web/callbacks.py",
        "self.expect_body(self._door.gate.limits.body_timeout, self._late)",
        "self.expect_body(8 * self._door.gate.limits.body_timeout, self._late)",
        CONNECTION,
    ),
    Mutant(
        "a head has a tenth of its time",
        "web/server/deadlines.py",
        "self._limits.head_timeout, self._expire)\n\n    def head_complete",
        "self._limits.head_timeout / 10, self._expire)\n\n    def head_complete",
        CONNECTION,
    ),
    Mutant(
        "a client that reads again does not end a stopped connection",
        "web/server/deadlines.py",
        "        self.reset_deadline()\n        self.close_if_stopping()\n",
        "        self.reset_deadline()\n",
        CONNECTION,
    ),
)
