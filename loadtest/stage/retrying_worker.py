"""Runs `python -m app worker` with a first retry within SECONDS: `python -m loadtest.stage.retrying_worker SECONDS`.

With the usual delay, an audit of a hundred events would wait minutes for a few retries.
"""

import sys

from app.cli.worker import work

if __name__ == "__main__":
    work(retry=float(sys.argv[1]))
