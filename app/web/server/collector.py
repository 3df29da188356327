"""Python's cyclic garbage collector in a process that serves: APP_GC."""

import gc

from app.settings import Release, Settings


def configure_gc(settings: Settings) -> None:
    """APP_GC, or the release's own: the published ones had Python's, and build clients, which are garbage in cycles."""
    own = "tuned" if settings.release >= Release.V08_NATIVE_ASYNC else "default"
    if (settings.gc or own) == "tuned":
        tune_gc()


def tune_gc() -> None:
    """What the start has made lives as long as the process, and is never looked at again; the rest seldom.

    A full collection looks at every object, so its pause is as long as the queue of those who wait, when it can least
    be afforded: CHANGELOG.md, 0.9.0, has what CPython's own thresholds (700, 10, 10) cost under overload.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
