"""OpenTelemetry's histogram of the event loop's delay: how much later than scheduled the loop runs a timer."""

from asgi_doctor.loop_delay import LoopDelay

NAME = "asgi_doctor.event_loop.delay"
INTERVAL_SECONDS = 0.1  # one timer in each interval costs an idle process about 0.1 % of a core
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


def exported() -> LoopDelay | None:
    """Returns a LoopDelay to start, which fills the histogram, or None if OpenTelemetry is missing or too old."""
    try:
        from opentelemetry import metrics

        histogram = metrics.get_meter("asgi_doctor").create_histogram(
            NAME,
            unit="s",
            description="How much later than scheduled the event loop runs a timer.",
            explicit_bucket_boundaries_advisory=_BOUNDS,
        )
    except (ImportError, TypeError):  # an API before 1.30 has only default boundaries, which are for milliseconds
        return None
    return LoopDelay(histogram.record, INTERVAL_SECONDS)
