"""A worker that is killed at a chosen call: before it is made, or before its answer is read.

After the kill, it does nothing that a killed process could not do: every later call fails too, even the one that
releases the lease.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.billing.processing import Billing


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
