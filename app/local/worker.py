"""A worker for a local run, as a child process that ends with its parent, whatever way that ends.

`start()` is the parent's side; `python -m app.local.worker` is the child: `python -m app worker`, told by the end of
its standard input to stop as by SIGTERM.
"""

import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from app.local.run import BROUGHT, LocalRun
from app.local.service import NONE

# Its queue ends with it, so there is nothing to hand back: a long poll of 20 s is not waited for.
_PATIENCE = 3.0
# The service's own: a second process cannot have its ports, and local mode is its parent's.
_THE_PARENTS = ("APP_LOCAL", "APP_LIVE_", "APP_METRICS_", "APP_HOST", "APP_TIMELINE", "APP_PROFILE")


def environment(run: LocalRun, base: Mapping[str, str], variables: Mapping[str, str] = NONE) -> dict[str, str]:
    """`base` with what a worker of `run` needs, as in a deployment, and with nothing of a real AWS account."""
    kept = {name: value for name, value in base.items() if not name.startswith(("AWS_", *_THE_PARENTS))}
    ours = (run.queue_url, run.dead_letter_queue_url, run.table, run.chargebee, run.chargebee_api_key)
    return kept | run.aws().environment() | dict(zip(BROUGHT, ours, strict=True)) | {"APP_PORT": "0"} | dict(variables)


@contextmanager
def start(run: LocalRun, variables: Mapping[str, str] = NONE) -> Iterator["subprocess.Popen[bytes]"]:
    """At the end it stops as by SIGTERM, and after 3 s as by SIGKILL."""
    # A session of its own: Ctrl-C in the terminal is for the parent, which stops the worker before the queue.
    with subprocess.Popen(
        [sys.executable, "-m", "app.local.worker", "worker"],
        env=environment(run, os.environ, variables),
        stdin=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        assert child.stdin is not None
        try:
            yield child
        finally:
            child.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                child.wait(_PATIENCE)
            child.kill()


def _stop_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # returns at the end of the file: nothing is ever written
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    runpy.run_module("app", run_name="__main__")  # with the argument `worker`
