"""Sets the size of AnyIO's thread pool, which has 40 threads by default.

FastAPI's `run_in_threadpool`, sync dependencies and sync handlers run in this pool.

https://anyio.readthedocs.io/en/stable/threads.html#adjusting-the-default-maximum-worker-thread-count
"""

from anyio.to_thread import current_default_thread_limiter


def set_tokens(tokens: int) -> None:
    """Sets how many of the pool's threads may work at the same time."""
    current_default_thread_limiter().total_tokens = tokens
