"""Defines the stand-in's behaviour, and chooses which calls fail.

`PUT /_/behaviour` changes the behaviour while the stand-in runs.
"""

import random
from enum import Enum

from pydantic import BaseModel, ConfigDict, Field

API_KEY = "test_standin"


class Behaviour(BaseModel):
    """The options of the stand-in.

    By default, the limits are those of a Chargebee test site: the site allows 150 calls a minute, and stores
    idempotency keys for 30 minutes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_key: str = Field(
        API_KEY, min_length=1, pattern=r"^[\x21-\x39\x3b-\x7e]+$", description="The only valid API key."
    )
    rate: int = Field(150, ge=1, le=10_000_000, description="Number of calls allowed in any 60 s; more calls get 429.")
    latency: float = Field(0.0, ge=0, le=60, description="Seconds of delay that are added to each call.")
    errors: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of calls that fail, from 0 to 1. For about half of these, the operation still succeeds.",
    )
    seed: int = Field(0, description="Seed for the random choice of the calls that fail.")
    rests: int = Field(
        0, ge=0, description="If this is a number N, every Nth call gets a 429 with Retry-After. 0 means no call."
    )
    retry_after: str = Field(
        "", description="Retry-After of each Nth call's 429. Empty means random values, of which a few are absurd."
    )
    idempotency_seconds: float = Field(1800.0, gt=0, description="Seconds for which an idempotency key is stored.")


class Fault(Enum):
    """An injected error. With GATEWAY_TIMEOUT and CUT_OFF, the operation succeeds, and only the answer is lost."""

    INTERNAL = "internal_error"
    UNAVAILABLE = "internal_temporary_error"
    GATEWAY_TIMEOUT = "gateway_timeout"
    CUT_OFF = "cut_off"

    @property
    def after_the_work(self) -> bool:
        return self in {Fault.GATEWAY_TIMEOUT, Fault.CUT_OFF}


# About one random value in 400 is absurd, as if a proxy used another unit than seconds, or had a bug.
_RETRY_AFTERS, _WEIGHTS = ("0", "1", "2", "1000000000", "9" * 400), (50, 700, 48, 1, 1)


class ApiFaults:
    """Chooses the calls that fail. With the same seed and the same order of calls, the same calls fail."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._share = behaviour.errors
        self._rests, self._retry_after = behaviour.rests, behaviour.retry_after
        self._calls = 0
        self._random = random.Random(behaviour.seed)  # noqa: S311  # repeatable, not secret

    def retry_after(self) -> str | None:
        """Counts a call. Returns the value of the Retry-After header if the call gets a 429, or None otherwise."""
        self._calls += 1
        if not self._rests or self._calls % self._rests:
            return None
        return self._retry_after or self._random.choices(_RETRY_AFTERS, _WEIGHTS)[0]

    def draw(self) -> Fault | None:
        """Returns the fault of this call, or None if the call succeeds."""
        if self._random.random() >= self._share:
            return None
        return self._random.choice(list(Fault))
