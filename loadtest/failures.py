"""Makes failed commands print one line on standard error, and exit with a code for the kind of failure."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from botocore.exceptions import BotoCoreError, ClientError

from app.errors import ConfigurationError
from app.settings.text import masked
from loadtest.fire.precheck import PreCheckFailed
from loadtest.stage.budget import Unavailable
from local import ctrl_c

SET_UP_FAILED = 2
INTERRUPTED = 130
_SET_UP_ERRORS = (
    *(ConfigurationError, PreCheckFailed, Unavailable, OSError, ValueError),
    *(subprocess.SubprocessError, psutil.Error, BotoCoreError, ClientError),
)


@contextmanager
def exit_on_failure() -> Iterator[None]:
    """A context that prints a line and exits: with 2 for _SET_UP_ERRORS, or with 130 for Ctrl-C, SIGTERM and SIGHUP."""
    ctrl_c.end_like_ctrl_c()
    try:
        yield
    except KeyboardInterrupt:
        print("interrupted: all processes of the attack are stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except _SET_UP_ERRORS as error:
        print(f"error: {masked(str(error))}", file=sys.stderr)
        sys.exit(SET_UP_FAILED)
