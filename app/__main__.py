"""Runs the command line of `app.cli` as `python -m app …`."""

import signal
import sys

from app.starting import importing, open_standard_files


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)  # as a shell reports a process that the signal ended


if __name__ == "__main__":
    open_standard_files()
    # The first process of a container gets no signal for which it has no handler, and `web` and `worker` set theirs at
    # the end of a start that takes seconds. Without this one, the kernel drops a SIGTERM that arrives before.
    signal.signal(signal.SIGTERM, _end)
    with importing():
        from app.cli import main  # imported only now, because the import takes a part of the start

    main()
