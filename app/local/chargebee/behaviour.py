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


class Faults:
    """Draws the calls that fail, the same ones for the same seed and order of calls."""

    def __init__(self, share: float, seed: int) -> None:
        self._share = share
        self._random = random.Random(seed)  # noqa: S311  # repeatable, not secret

    def draw(self) -> Fault | None:
        """None for a call that works."""
        if self._random.random() >= self._share:
            return None
        return self._random.choice(list(Fault))
