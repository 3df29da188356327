"""Faults that are planted in the way in which the server serves a connection, one at a time."""

from tests.simulation.mutants import PATH, Mutant

CONNECTION_MUTANTS = (
    Mutant(
        "a pipelined webhook does not wait for the answer before",
        "web/server/protocol_callbacks.py",
        "self.expect_100_continue or self.busy() or self.flow.write_paused)",
        "self.expect_100_continue or self.flow.write_paused)",
        PATH,
    ),
    Mutant(
        "a pipelined webhook is not started",
        "web/server/protocol_callbacks.py",
        "if self.pipeline or self._half_closed or flow.read_paused or",
        "if self._half_closed or",
        PATH,
    ),
    Mutant(
        "a kept-alive connection has no deadline",
        "web/server/protocol_callbacks.py",
        "        else:\n            self.await_next()\n",
        "",
        PATH,
    ),
    Mutant(
        "the deadline of a head stays when the head is complete",
        "web/server/deadlines.py",
        "            self._limits.clear_deadline(self)\n        if last",
        "            pass\n        if last",
        PATH,
    ),
    Mutant(
        "the deadlines of a reset connection stay",
        "web/server/deadlines.py",
        "        self._limits.remove(self)\n",
        "        if exc is None:\n            self._limits.remove(self)\n",
        PATH,
    ),
    Mutant(
        "the keep-alive timer of a reset connection stays",
        "web/server/deadlines.py",
        "        self._unset_keepalive_if_required()  # type: ignore[attr-defined]\n",
        "",
        PATH,
    ),
    Mutant(
        "each part prolongs the deadline of the body",
        "web/server/connections.py",
        "self._body_deadlines.setdefault(connection, (self._loop.time() + seconds, expire))",
        "self._body_deadlines[connection] = self._loop.time() + seconds, expire",
        PATH,
    ),
    Mutant(
        "a half-closed connection has no deadline",
        "web/server/deadlines.py",
        "        self._limits.set_deadline(self, LINGER_SECONDS, self.transport.abort)\n        return False\n",
        "        return False\n",
        PATH,
    ),
    Mutant(
        "a closing connection has the deadline of an idle one",
        "web/server/deadlines.py",
        "if self.flow.write_paused or self.transport.is_closing() or self.rest_expected():",
        "if self.flow.write_paused or self.rest_expected():",
        PATH,
    ),
    Mutant(
        "a connection waits for the rest of a rejected body without a deadline",
        "web/server/deadlines.py",
        "if self.flow.write_paused or self.transport.is_closing() or self.rest_expected():",
        "if self.rest_expected():\n            self._limits.clear_deadline(self)\n"
        "        elif self.flow.write_paused or self.transport.is_closing():",
        PATH,
    ),
    Mutant(
        "an expired connection has no further deadline",
        "web/server/deadlines.py",
        "self.transport.close()\n        self._limits.set_deadline(self, LINGER_SECONDS, self.transport.abort)\n",
        "self.transport.close()\n        self._limits.clear_deadline(self)\n",
        PATH,
    ),
)
