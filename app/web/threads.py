"""anyio's thread pool, 40 tokens by default: `run_in_threadpool`, sync dependencies and sync handlers use it.

https://anyio.readthedocs.io/en/stable/threads.html#adjusting-the-default-maximum-worker-thread-count
"""

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI


def set_tokens(app: FastAPI, tokens: int) -> None:
    """Sets the limiter to `tokens`, or to APP_THREADPOOL_TOKENS where that is set."""
    current_default_thread_limiter().total_tokens = app.state.settings.threadpool_tokens or tokens
