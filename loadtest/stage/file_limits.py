"""Raises the limit of open files, because each request in flight is an open file in vegeta and in the service."""

from app import open_files
from app.errors import ConfigurationError
from loadtest.record.shapes import Load

BESIDES = 200  # other open files: logs, libraries, connections to the queue


def needed(load: Load) -> int:
    """Returns the largest number of files that an attack can have open: BESIDES, and one for each request in flight.

    In an open loop, the number of requests in flight is highest if the service does not respond before the time-out.
    """
    return BESIDES + (load.users or round(load.rate * min(load.duration_s, load.timeout_s)))


def raise_limit(load: Load) -> None:
    """Raises the soft limit of open files to the number that `load` needs, for this process and its children.

    Raises ConfigurationError if the hard limit is lower than this number.
    """
    wanted = needed(load)
    allowed = open_files.raise_limit(wanted)
    if allowed is not None and allowed < wanted:
        raise ConfigurationError(
            f"this attack may require {wanted:,} open files, {allowed:,} are allowed: raise `ulimit -Hn`,"
            " or lower --rate, --duration or --users"
        )
