"""Faults that are planted, one at a time, in the code with which the server serves a connection."""

from tests.simulation.mutants import PATH, Mutant

CONNECTION_MUTANTS = (
    Mutant(
        "a pipelined webhook is not started",
        "server/connection.py",
        "            self._limits.loop.call_soon(self._read_held)\n",
        "            pass\n",
        PATH,
    ),
    Mutant(
        "a kept-alive connection has no deadline",
        "server/states.py",
        "State.IDLE: Wait.FOR_REQUEST",
        "State.IDLE: None",
        PATH,
    ),
    Mutant(
        "the deadline of a body stays when the body is complete",
        "server/connection.py",
        "        if wait is not self._wait:\n            self._wait = wait\n",
        "        if wait is not None and wait is not self._wait:\n            self._wait = wait\n",
        PATH,
    ),
    Mutant(
        "the deadlines of a reset connection stay",
        "server/connection.py",
        "        self._limits.remove(self)\n",
        "        if exc is None:\n            self._limits.remove(self)\n",
        PATH,
    ),
    Mutant(
        "the process keeps a connection that has ended",
        "server/connection.py",
        "        self._connections.discard(self)\n",
        "        pass\n",
        PATH,
    ),
    Mutant(
        "each part prolongs the deadline of the body",
        "server/connection.py",
        "        if wait is not self._wait:\n            self._wait = wait\n",
        "        if wait is not self._wait or self.state is BODY:\n            self._wait = wait\n",
        PATH,
    ),
    Mutant(
        "a half-closed connection stays as it was",
        "server/connection.py",
        "        self._end()\n        return False  # the",
        "        return False  # the",
        PATH,
    ),
    Mutant(
        "a closing connection has the deadline of an idle one",
        "server/states.py",
        "State.CLOSING: Wait.FOR_CLIENT",
        "State.CLOSING: Wait.FOR_REQUEST",
        PATH,
    ),
    Mutant(
        "a connection waits for the rest of a rejected body without a deadline",
        "server/states.py",
        "State.REST: Wait.FOR_CLIENT",
        "State.REST: None",
        PATH,
    ),
    Mutant(
        "an expired connection has no further deadline",
        "server/states.py",
        "State.CLOSING: Wait.FOR_CLIENT",
        "State.CLOSING: None",
        PATH,
    ),
)
