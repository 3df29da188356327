"""The effect of each of the talk's tips: v07 with one of them undone at a time, on a quarter of a core.

Writes tips.json to loadtest/results/<date>-<commit>.
"""

import click

from app.settings import Release
from loadtest import interleaved
from loadtest.failures import exit_on_failure
from loadtest.interleaved import USERS, Case
from loadtest.record import folders
from loadtest.report import ratios
from loadtest.stage import subject

UNDONE = {
    "no uvloop": {"APP_LOOP": "asyncio"},
    "no httptools": {"APP_HTTP": "h11"},
    "h11 + asyncio": {"APP_HTTP": "h11", "APP_LOOP": "asyncio"},
    "access log": {"APP_ACCESS_LOG": "1"},
    "json.dumps": {"APP_RESPONSE": "json"},
    "orjson": {"APP_RESPONSE": "orjson"},
    "40 threads": {"APP_THREADPOOL_TOKENS": "40"},
    "ASGI middleware": {"APP_MIDDLEWARE": "asgi"},
    "BaseHTTPMiddleware": {"APP_MIDDLEWARE": "base_http"},
    "backlog 128": {"APP_BACKLOG": "128"},
    "limit-concurrency 1000": {"APP_LIMIT_CONCURRENCY": "1000"},
}


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1, 50), default=5, show_default=True)
@click.option("--seconds", type=click.FloatRange(1, 600), default=3, show_default=True, help="Of each attack.")
def main(repeats: int, seconds: float) -> None:
    with exit_on_failure():
        where = interleaved.environment()
        file = folders.comparison(where) / "tips.json"
        load = interleaved.closed_loop(USERS, seconds)
        variants = {ratios.ALL_TIPS: {}, **UNDONE}
        subjects = [subject.release(Release.V07_SYNC_HANDLER, name, **flags) for name, flags in variants.items()]
        chosen = [Case("saturated", what, "capped", load) for what in subjects]
        comparison = interleaved.run("tips: v07 with one tip undone", chosen, repeats, file, where)
        interleaved.finish(comparison, file, ratios.tips(comparison))


if __name__ == "__main__":
    main()
