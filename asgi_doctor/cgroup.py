"""Reads how often and how long a CPU limit has stopped this process: CFS throttling of its cgroup, v1 or v2.

cpu.stat: https://docs.kernel.org/scheduler/sched-bwc.html#statistics, https://docs.kernel.org/admin-guide/cgroup-v2.html
/proc/…/cgroup, /proc/…/mountinfo: man 7 cgroups, man 5 proc_pid_mountinfo.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PROC = Path("/proc/self")


class Throttling(NamedTuple):
    """Totals since the cgroup was created. Seconds are summed over cores, so they may exceed the elapsed time."""

    periods: int
    throttled_periods: int
    throttled_seconds: float


def cpu_stat(proc: Path = PROC) -> Path | None:
    """Returns the cpu.stat file that counts the throttling of this process, or None if there is none.

    The file belongs to the process's cgroup, or to the nearest ancestor that has the cpu controller. A higher ancestor
    may limit this process, too. Its file is not used, because it also counts processes of other cgroups.
    """
    return next((file for group in _groups(proc) if throttling(file := group / "cpu.stat") is not None), None)


def throttling(stat: Path | None) -> Throttling | None:
    """Returns the totals in `stat` (see `cpu_stat`), or None if the file counts no periods or is unreadable."""
    try:
        counted = (
            dict(line.split() for line in stat.read_text(encoding="utf-8").splitlines()) if stat is not None else {}
        )
    except (OSError, ValueError):
        return None
    if "nr_periods" not in counted:
        return None
    # The kernel counts nanoseconds in v1 of cgroups, and microseconds in v2.
    seconds = (
        int(counted["throttled_time"]) / 1e9
        if "throttled_time" in counted
        else int(counted.get("throttled_usec", 0)) / 1e6
    )
    return Throttling(int(counted["nr_periods"]), int(counted.get("nr_throttled", 0)), seconds)


def _groups(proc: Path) -> Iterator[Path]:
    """Yields the folders of the process's cgroups that may have the cpu controller, each followed by its parents."""
    try:
        memberships = (proc / "cgroup").read_text(encoding="utf-8").splitlines()
        mounts = [line.split() for line in (proc / "mountinfo").read_text(encoding="utf-8").splitlines()]
    except OSError:  # not Linux
        return
    for membership in memberships:
        _, controllers, path = membership.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        for root, mounted in _mounted(mounts, version_2=not controllers):
            yield from _folders(PurePosixPath(path), root, mounted)


def _mounted(mounts: list[list[str]], version_2: bool) -> Iterator[tuple[PurePosixPath, Path]]:
    """Yields each mount of cgroup v2, or of v1's cpu controller: the folder that is mounted, and where."""
    for fields in mounts:
        kind, _, options = fields[fields.index("-") + 1 :][:3]
        if kind == ("cgroup2" if version_2 else "cgroup") and (version_2 or "cpu" in options.split(",")):
            yield PurePosixPath(fields[3]), Path(fields[4])


def _folders(path: PurePosixPath, root: PurePosixPath, mounted: Path) -> Iterator[Path]:
    # A container may see the host's `path`, although only its own cgroup is mounted. Then `path` is not below `root`.
    own = mounted / path.relative_to(root) if path.is_relative_to(root) and ".." not in path.parts else mounted
    yield own
    yield from (folder for folder in own.parents if folder.is_relative_to(mounted))
