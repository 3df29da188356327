"""Runs the command line of `app.cli` as `python -m app …`."""

import signal
import sys

from app.starting import importing, open_standard_files


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)  # the exit code that a shell reports after this signal


if __name__ == "__main__":
    open_standard_files()
    # In a container, the kernel drops a SIGTERM to the first process if this process has no handler for SIGTERM. The
    # commands `web` and `worker` set their handlers only after some seconds. Until then, `_end` handles SIGTERM.
    signal.signal(signal.SIGTERM, _end)
    with importing():
        from app.cli import main  # imported after the handler is set, because the import is slow

    main()
