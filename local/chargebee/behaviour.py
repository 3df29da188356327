"""How the stand-in behaves; it can be changed while it runs (`PUT /_/behaviour`)."""

import random
from enum import Enum

from pydantic import BaseModel, ConfigDict, Field

API_KEY = "test_standin"


class Behaviour(BaseModel):
    """The defaults are those of a test site: 150 calls a minute, idempotency keys kept for 30 minutes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_key: str = Field(API_KEY, min_length=1, pattern=r"^[\x21-\x39\x3b-\x7e]+$", description="The only valid key.")
    rate: int = Field(150, ge=1, le=10_000_000, description="Calls in any 60 s; more get 429.")
    latency: float = Field(0.0, ge=0, le=60, description="Seconds that each call takes.")
    errors: float = Field(0.0, ge=0, le=1, description="Share of calls that fail, half of them after the work is done.")
    seed: int = Field(0, description="Of the choice which calls fail.")
    rests: int = Field(0, ge=0, description="Every so many-th call gets a 429 with a Retry-After; 0: none.")
    retry_after: str = Field("", description="The Retry-After of these 429; empty: a random one, seldom an absurd one.")
    idempotency_seconds: float = Field(1800.0, gt=0, description="Seconds for which an idempotency key is kept.")


class Fault(Enum):
    """An injected error. The last two come after the work has been done: an answer that was lost."""

    INTERNAL = "internal_error"
    UNAVAILABLE = "internal_temporary_error"
    GATEWAY_TIMEOUT = "gateway_timeout"
    CUT_OFF = "cut_off"

    @property
    def after_the_work(self) -> bool:
        return self in {Fault.GATEWAY_TIMEOUT, Fault.CUT_OFF}


# Random ones: about one in four hundred is absurd, as of a proxy that counts in other units, or of nothing that counts.
_RETRY_AFTERS, _WEIGHTS = ("0", "1", "2", "1000000000", "9" * 400), (50, 700, 48, 1, 1)


class FaultInjector:
    """Draws the calls that fail, the same ones for the same seed and order of calls."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._share = behaviour.errors
        self._rests, self._retry_after = behaviour.rests, behaviour.retry_after
        self._calls = 0
        self._random = random.Random(behaviour.seed)  # noqa: S311  # repeatable, not secret

    def rest(self) -> str | None:
        """Returns the Retry-After of this call's 429, or None for a call that is let through."""
        self._calls += 1
        if not self._rests or self._calls % self._rests:
            return None
        return self._retry_after or self._random.choices(_RETRY_AFTERS, _WEIGHTS)[0]

    def draw(self) -> Fault | None:
        """None for a call that works."""
        if self._random.random() >= self._share:
            return None
        return self._random.choice(list(Fault))
