"""A worker that is killed at a chosen call: before it is made, or before its answer is read.

After the kill, it does nothing that a killed process could not do: every later call fails too, even the one that
releases the lease.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from app.billing.processing import Billing
from app.errors import BillingFailed
from tests.billing.stage import Stage, event_of

if TYPE_CHECKING:
    from tests.billing.conftest import OpenBilling


class Killed(BaseException):
    """Stands for SIGKILL."""


class Mortal:
    """Counts the calls of `billing`, to the table and to Chargebee, in `made`; dies at number `at` (from 0)."""

    def __init__(self, billing: Billing, patch: pytest.MonkeyPatch, at: int | None = None, after: bool = False) -> None:
        self.made: list[str] = []
        self._at, self._after = at, after
        self._dead = False
        calls = billing.chargebee._calls
        patch.setattr(billing.table, "_call", self._wrapped(billing.table._call))
        patch.setattr(calls, "_send", self._wrapped(calls._send))

    def _wrapped(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def mortal(*arguments: Any, **parameters: Any) -> Any:
            dies = self._at == len(self.made)
            self.made.append(str(arguments[0]))
            if self._dead or (dies and not self._after):
                self._dead = True
                raise Killed
            answer = await call(*arguments, **parameters)
            if dies:
                self._dead = True
                raise Killed
            return answer

        return mortal


async def kill(billing: "OpenBilling", stage: Stage, body: dict[str, Any], at: int, *, after: bool = False) -> int:
    """Kills a worker at its call with the index `at`, and ends its leases. Returns how many calls it has made.

    Before the call, unless `after`. A kill after a call leaves the same as one before the next call.
    """
    async with billing("killed") as worker:
        with pytest.MonkeyPatch.context() as patch:
            mortal = Mortal(worker, patch, at, after)
            with suppress(Killed, BillingFailed):
                await worker.process(event_of(body))
    stage.end_leases(body)
    return len(mortal.made)
