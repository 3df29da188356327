"""How often the kernel has stopped this process for its CPU limit: the CFS throttling of its cgroup, v1 or v2.

cpu.stat: https://docs.kernel.org/scheduler/sched-bwc.html#statistics, https://docs.kernel.org/admin-guide/cgroup-v2.html
/proc/…/cgroup, /proc/…/mountinfo: man 7 cgroups, man 5 proc_pid_mountinfo.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PROC = Path("/proc/self")


class Throttling(NamedTuple):
    """Since the cgroup was made. Seconds are summed over cores, so that they may be more than have passed."""

    periods: int
    throttled_periods: int
    throttled_seconds: float


def cpu_stat(proc: Path = PROC) -> Path | None:
    """The cpu.stat that counts the throttling of this process; None on a system or in a cgroup without.

    It is that of the process's cgroup, or of the nearest one above it that has the cpu controller. A limit further up
    throttles too, but its counts are those of all processes below it.
    """
    return next((file for group in _groups(proc) if throttling(file := group / "cpu.stat") is not None), None)


def throttling(stat: Path | None) -> Throttling | None:
    """What `stat`, of `cpu_stat`, says; None where it counts no periods, or cannot be read (any more)."""
    try:
        counted = dict(line.split() for line in stat.read_text().splitlines()) if stat is not None else {}
    except (OSError, ValueError):
        return None
    if "nr_periods" not in counted:
        return None
    # Nanoseconds in v1, microseconds in v2.
    seconds = (
        int(counted["throttled_time"]) / 1e9
        if "throttled_time" in counted
        else int(counted.get("throttled_usec", 0)) / 1e6
    )
    return Throttling(int(counted["nr_periods"]), int(counted.get("nr_throttled", 0)), seconds)


def _groups(proc: Path) -> Iterator[Path]:
    """Folders of the process's cgroups that may have the cpu controller, each followed by those above it."""
    try:
        memberships = (proc / "cgroup").read_text().splitlines()
        mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines()]
    except OSError:  # not Linux
        return
    for membership in memberships:
        _, controllers, path = membership.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        for root, mounted in _mounted(mounts, version_2=not controllers):
            yield from _folders(PurePosixPath(path), root, mounted)


def _mounted(mounts: list[list[str]], version_2: bool) -> Iterator[tuple[PurePosixPath, Path]]:
    """Where the hierarchy is mounted, and which of its folders is mounted there."""
    for fields in mounts:
        kind, _, options = fields[fields.index("-") + 1 :][:3]
        if kind == ("cgroup2" if version_2 else "cgroup") and (version_2 or "cpu" in options.split(",")):
            yield PurePosixPath(fields[3]), Path(fields[4])


def _folders(path: PurePosixPath, root: PurePosixPath, mounted: Path) -> Iterator[Path]:
    # Not below it: a container that sees the host's path, while its own cgroup is what is mounted.
    own = mounted / path.relative_to(root) if path.is_relative_to(root) and ".." not in path.parts else mounted
    yield own
    yield from (folder for folder in own.parents if folder.is_relative_to(mounted))
