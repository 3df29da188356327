"""The thread pool behind `run_in_threadpool`, sync dependencies and sync handlers: anyio's, 40 tokens by default."""

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI


def set_tokens(app: FastAPI, tokens: int) -> int:
    """Lets `tokens` threads work at once, or APP_THREADPOOL_TOKENS where that is set; how many it is now."""
    chosen: int = app.state.settings.threadpool_tokens or tokens
    current_default_thread_limiter().total_tokens = chosen
    return chosen
