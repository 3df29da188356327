"""Python's cyclic garbage collector in a process that serves: APP_GC."""

import gc

from app.settings import Settings


def configure_gc(settings: Settings) -> None:
    """APP_GC, or the release's own: v02 to v07 keep Python's thresholds, since discarded clients are cyclic garbage."""
    own = "default" if settings.release.published else "tuned"
    if (settings.gc or own) == "tuned":
        tune_gc()


def tune_gc() -> None:
    """Freezes what the start has made, and raises the thresholds.

    A full collection visits every object, so its pause grows with the number of waiting requests: CHANGELOG.md, 0.9.0,
    has what CPython's own thresholds (700, 10, 10) cost under overload.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
