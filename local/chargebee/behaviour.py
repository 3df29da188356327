"""Defines the options of the Chargebee stand-in, and chooses which calls fail.

`PUT /_/behaviour` changes the options while the stand-in runs.
"""

import random
from enum import Enum

from pydantic import BaseModel, ConfigDict, Field

API_KEY = "test_standin"


class Behaviour(BaseModel):
    """The options of the stand-in for Chargebee's API.

    The default limits are those of a Chargebee test site: it allows 150 calls a minute, and stores idempotency keys for
    30 minutes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_key: str = Field(
        API_KEY, min_length=1, pattern=r"^[\x21-\x39\x3b-\x7e]+$", description="The only valid API key."
    )
    rate: int = Field(
        150, ge=1, le=10_000_000, description="Maximum number of calls in any 60 s; the answer to further calls is 429."
    )
    latency: float = Field(0.0, ge=0, le=60, description="Seconds of latency added to each call.")
    errors: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of calls that fail, from 0 to 1. In about half of the failed calls, the operation succeeds"
        " and only the answer is lost.",
    )
    seed: int = Field(0, description="Seed for the random choice of the calls that fail.")
    rests: int = Field(
        0, ge=0, description="N: the stand-in answers every Nth call with 429 and Retry-After. 0 switches this off."
    )
    retry_after: str = Field(
        "",
        description="Value of Retry-After in the answer to every Nth call, where N is the value of `rests`. If empty,"
        " the stand-in chooses random values, of which a few are absurdly high.",
    )
    renumber: bool = Field(
        True, description="Give an invoice the next number as its id when it is closed, as Chargebee does."
    )
    idempotency_seconds: float = Field(1800.0, gt=0, description="Seconds for which an idempotency key is stored.")


class Fault(Enum):
    """An error that the stand-in injects into a call.

    With GATEWAY_TIMEOUT and CUT_OFF, the operation succeeds, and only the answer is lost.
    """

    INTERNAL = "internal_error"
    UNAVAILABLE = "internal_temporary_error"
    GATEWAY_TIMEOUT = "gateway_timeout"
    CUT_OFF = "cut_off"

    @property
    def after_the_work(self) -> bool:
        return self in {Fault.GATEWAY_TIMEOUT, Fault.CUT_OFF}


# The random values of Retry-After, and their weights. About one value in 400 is absurdly high, as if a proxy had a bug
# or used another unit than seconds.
_RETRY_AFTERS, _WEIGHTS = ("0", "1", "2", "1000000000", "9" * 400), (50, 700, 48, 1, 1)


class ApiFaults:
    """Chooses the calls that fail. With the same seed and the same order of calls, the same calls fail."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._share = behaviour.errors
        self._rests, self._retry_after = behaviour.rests, behaviour.retry_after
        self._calls = 0
        self._random = random.Random(behaviour.seed)  # noqa: S311  # must be repeatable, need not be secret

    def retry_after(self) -> str | None:
        """Counts a call. Returns the value of Retry-After if the answer to this call must be 429, or None otherwise."""
        self._calls += 1
        if not self._rests or self._calls % self._rests:
            return None
        return self._retry_after or self._random.choices(_RETRY_AFTERS, _WEIGHTS)[0]

    def draw(self) -> Fault | None:
        """Chooses at random whether a call fails. Returns the fault to inject, or None if the call does not fail."""
        if self._random.random() >= self._share:
            return None
        return self._random.choice(list(Fault))
