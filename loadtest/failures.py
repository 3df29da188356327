"""What went wrong, told in a line; the exit code says which kind."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from app.errors import ConfigurationError
from app.settings.text import masked
from loadtest.fire.precheck import PreCheckFailed
from loadtest.stage.budget import Unavailable

SET_UP_FAILED = 2
INTERRUPTED = 130
_TOLD = (
    *(ConfigurationError, PreCheckFailed, Unavailable, OSError, ValueError),
    *(subprocess.CalledProcessError, BotoCoreError, ClientError),
)


@contextmanager
def told() -> Iterator[None]:
    """Ends the process with 2 and one line where the set-up fails, with 130 on Ctrl-C; SIGTERM counts as Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        print("interrupted: everything that was started has been stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except _TOLD as error:
        print(f"error: {masked(str(error))}", file=sys.stderr)
        sys.exit(SET_UP_FAILED)
