"""Each request in flight is an open file, for the attacker as for the attacked."""

import resource

from app.errors import ConfigurationError
from loadtest.record.shapes import Load

BESIDES = 200  # logs, libraries, connections to the queue


def needed(load: Load) -> int:
    """As many requests as can be in flight at once, where nobody answers before the time-out."""
    return BESIDES + (load.users or round(load.rate * min(load.duration_s, load.timeout_s)))


def raise_as_far_as_possible() -> None:
    """Raises the soft limit to the hard one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def raise_limit(load: Load) -> None:
    """Raises the soft limit of this process and those it starts. Raises ConfigurationError where that is not enough."""
    wanted = needed(load)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        raise ConfigurationError(
            f"this attack may hold {wanted:,} open files, {hard:,} are allowed: `ulimit -Hn` wants raising,"
            " or --rate, --duration or --users lowering"
        )
