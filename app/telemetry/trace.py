"""The trace of a webhook, from the traceparent header: https://www.w3.org/TR/trace-context/#traceparent-header.

OpenTelemetry's propagator and sampler take 11 µs per request; a webhook without a trace must cost almost nothing.
"""

import os
import random
import re
from collections.abc import Iterable
from contextvars import ContextVar
from typing import NamedTuple, Self

from app.errors import ConfigurationError

SAMPLER, ARGUMENT = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
DEFAULT_SAMPLER, DEFAULT_RATIO = "parentbased_traceidratio", "0.01"
_SAMPLERS = ("always_on", "always_off", "traceidratio")
_PARENT_BASED = "parentbased_"
_TRACEPARENT = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LOW_BITS = 2**64  # OpenTelemetry samples by the low 64 bits of a trace id


class Trace(NamedTuple):
    """A sampled webhook's own span; for other webhooks the span of the sender, which the service passes on."""

    trace_id: int
    span_id: int
    sampled: bool
    parent_id: int | None = None

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{self.sampled:02x}"

    @classmethod
    def parsed(cls, header: bytes) -> Self | None:
        """Returns the sender's span, or None if the header is invalid."""
        match = _TRACEPARENT.fullmatch(header)
        if match is None or match[1] == b"ff" or (match[1] == b"00" and match[5] is not None):
            return None
        trace_id, span_id = int(match[2], 16), int(match[3], 16)
        return cls(trace_id, span_id, bool(int(match[4], 16) & 1)) if trace_id and span_id else None


def sent_with(headers: Iterable[tuple[bytes, bytes]]) -> Trace | None:
    """Returns the sender's span, or None. A process that exports no spans passes this one on."""
    for name, value in headers:
        if name == b"traceparent":
            return Trace.parsed(value)
    return None


# The trace of the webhook that this task or thread works on.
current: ContextVar[Trace | None] = ContextVar("trace", default=None)


class Sampling:
    """Samples as OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG say, without the SDK."""

    def __init__(self, sampler: str, ratio: float) -> None:
        self._follows_parent = sampler.startswith(_PARENT_BASED)
        self._ratio = {"always_on": 1.0, "always_off": 0.0}.get(sampler.removeprefix(_PARENT_BASED), ratio)
        self._bound = round(self._ratio * _LOW_BITS)  # rounded as OpenTelemetry does

    @classmethod
    def from_environment(cls) -> Self:
        """Returns the environment's sampling; by default as the sender's, else 1 %. Raises ConfigurationError."""
        sampler = os.environ.get(SAMPLER) or DEFAULT_SAMPLER
        if sampler.removeprefix(_PARENT_BASED) not in _SAMPLERS:
            allowed = ", ".join([*_SAMPLERS, *(_PARENT_BASED + name for name in _SAMPLERS)])
            raise ConfigurationError(f"{SAMPLER}={sampler}: allowed is {allowed}")
        given = os.environ.get(ARGUMENT) or (DEFAULT_RATIO if SAMPLER not in os.environ else "1.0")
        try:
            ratio = float(given)
        except ValueError:
            ratio = -1.0
        if not 0 <= ratio <= 1:
            raise ConfigurationError(f"{ARGUMENT}={given}: allowed is a number from 0 to 1")
        return cls(sampler, ratio)

    def begin(self, headers: Iterable[tuple[bytes, bytes]]) -> Trace | None:
        """Returns the trace of a request with `headers`, or None, which is the usual case."""
        if (parent := sent_with(headers)) is not None:
            return self._continued(parent)
        if self._ratio and random.random() < self._ratio:  # noqa: S311  # no secret
            return Trace(random.getrandbits(128) or 1, _new_span_id(), sampled=True)
        return None

    def _continued(self, parent: Trace) -> Trace:
        sampled = parent.sampled if self._follows_parent else parent.trace_id % _LOW_BITS < self._bound
        if not sampled:
            return parent._replace(sampled=False)
        return Trace(parent.trace_id, _new_span_id(), True, parent.span_id)


def _new_span_id() -> int:
    return random.getrandbits(64) or 1
