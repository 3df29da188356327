"""Tokens of anyio's thread pool: `run_in_threadpool`, sync dependencies and sync handlers each take one."""

from anyio import CapacityLimiter
from anyio.to_thread import current_default_thread_limiter

from app.telemetry.metrics.instruments import Description, Instrument, Observed, Point


class ThreadTokens:
    """Absent until `capture`: an event loop has a limiter of its own."""

    def __init__(self) -> None:
        self._limiter: CapacityLimiter | None = None
        self.instruments: list[Instrument] = [
            Observed(Description("gauge", f"thread_tokens.{name}", "{thread}", text), read)
            for name, text, read in (
                ("limit", "Threads that blocking work may use.", self._limit),
                ("used", "Threads that work now.", self._used),
                ("waiting", "Tasks that wait for a thread.", self._waiting),
            )
        ]

    def capture(self) -> None:
        """Once, on the event loop."""
        self._limiter = current_default_thread_limiter()

    def _limit(self) -> list[Point]:
        return [((), self._limiter.total_tokens)] if self._limiter else []

    def _used(self) -> list[Point]:
        return [((), self._limiter.borrowed_tokens)] if self._limiter else []

    def _waiting(self) -> list[Point]:
        return [((), self._limiter.statistics().tasks_waiting)] if self._limiter else []
