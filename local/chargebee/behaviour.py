"""The stand-in's behaviour, which `PUT /_/behaviour` changes while the stand-in runs."""

import random
from enum import Enum

from pydantic import BaseModel, ConfigDict, Field

API_KEY = "test_standin"


class Behaviour(BaseModel):
    """The options. The defaults are a test site's: 150 calls a minute; idempotency keys are stored for 30 minutes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_key: str = Field(
        API_KEY, min_length=1, pattern=r"^[\x21-\x39\x3b-\x7e]+$", description="The only valid API key."
    )
    rate: int = Field(150, ge=1, le=10_000_000, description="Calls allowed in any 60 s; further calls get 429.")
    latency: float = Field(0.0, ge=0, le=60, description="Seconds that each call takes.")
    errors: float = Field(0.0, ge=0, le=1, description="Share of calls that fail, half of them after the operation.")
    seed: int = Field(0, description="Seed of the random choice of failing calls.")
    rests: int = Field(0, ge=0, description="N: every Nth call gets a 429 with Retry-After; 0: none.")
    retry_after: str = Field(
        "", description="The Retry-After of these 429 answers; empty: random, rarely an absurd value."
    )
    idempotency_seconds: float = Field(1800.0, gt=0, description="Seconds for which an idempotency key is stored.")


class Fault(Enum):
    """An injected error. With the last two, the operation succeeds, and only the answer is lost."""

    INTERNAL = "internal_error"
    UNAVAILABLE = "internal_temporary_error"
    GATEWAY_TIMEOUT = "gateway_timeout"
    CUT_OFF = "cut_off"

    @property
    def after_the_work(self) -> bool:
        return self in {Fault.GATEWAY_TIMEOUT, Fault.CUT_OFF}


# About one in four hundred random values is absurd, like that of a proxy that counts in other units, or miscounts.
_RETRY_AFTERS, _WEIGHTS = ("0", "1", "2", "1000000000", "9" * 400), (50, 700, 48, 1, 1)


class ApiFaults:
    """Chooses the calls that fail; the same seed and order of calls give the same choice."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._share = behaviour.errors
        self._rests, self._retry_after = behaviour.rests, behaviour.retry_after
        self._calls = 0
        self._random = random.Random(behaviour.seed)  # noqa: S311  # repeatable, not secret

    def retry_after(self) -> str | None:
        """Returns the Retry-After if this call gets a 429, else None."""
        self._calls += 1
        if not self._rests or self._calls % self._rests:
            return None
        return self._retry_after or self._random.choices(_RETRY_AFTERS, _WEIGHTS)[0]

    def draw(self) -> Fault | None:
        """Returns the fault of this call, or None if the call succeeds."""
        if self._random.random() >= self._share:
            return None
        return self._random.choice(list(Fault))
