"""Raises this process's limit of open files. Each connection is an open file."""

import resource

# The limit to set. The usual soft limit of open files is 1,024 on Linux and 256 on macOS.
ENOUGH = 65_536


def raise_limit(wanted: int = ENOUGH) -> int | None:
    """Raises the soft limit to `wanted`, or as far as possible. Returns the new limit, or None if there is no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    while soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            break
        except ValueError:  # on macOS, the hard limit is "unlimited", but the kernel has a lower limit
            wanted //= 2
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
