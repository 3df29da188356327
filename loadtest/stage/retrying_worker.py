"""Runs `python -m app worker`, but with a delay of at most SECONDS before the first retry of a message.

python -m loadtest.stage.retrying_worker SECONDS

With the usual delay, an audit of a hundred events would wait minutes for a few retries.
"""

import sys

from app.cli.worker import work

if __name__ == "__main__":
    work(retry=float(sys.argv[1]))
