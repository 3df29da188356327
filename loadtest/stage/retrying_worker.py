"""`python -m loadtest.stage.retrying_worker SECONDS`: `python -m app worker`, whose first retry comes within SECONDS.

An audit of a hundred events would otherwise wait for minutes for the retries of a few.
"""

import sys

from app.cli.worker import work

if __name__ == "__main__":
    work(retry=float(sys.argv[1]))
