"""Finds the throttling of this process's cgroup in the files that the kernel documents."""

import subprocess
import sys
from pathlib import Path

import pytest

from asgi_doctor.cgroup import cpu_stat, throttling
from loadtest.stage.budget import LIMITS, Unavailable
from loadtest.stage.budget.cgroup_v1 import CgroupV1
from loadtest.stage.budget.cgroup_v2 import CgroupV2

V1 = "nr_periods 20\nnr_throttled 18\nthrottled_time 1250372382\n"
V2 = "usage_usec 824058802\nnr_periods 20\nnr_throttled 18\nthrottled_usec 1250372\n"
NOT_LIMITED = "usage_usec 824058802\n"  # cpu.stat of a cgroup in which the cpu controller is not enabled


def _proc(folder: Path, cgroup: str, mounts: dict[str, str]) -> Path:
    """Writes a /proc folder. `mounts`: mount points in `folder`, by hierarchy (`cgroup2:/`, `cpu,cpuacct:/`)."""
    lines = []
    for what, where in mounts.items():
        options, _, root = what.partition(":")
        kind = "cgroup2 cgroup2 rw" if options == "cgroup2" else f"cgroup cgroup rw,{options}"
        lines.append(f"32 31 0:29 {root} {folder / where} rw,relatime shared:9 - {kind}")
    (folder / "cgroup").write_text(cgroup, encoding="utf-8")
    (folder / "mountinfo").write_text(
        "27 1 254:0 / / rw - ext4 /dev/vda rw\n" + "\n".join(lines) + "\n", encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize(
    ("cgroup", "mounts", "stat", "text"),
    [
        pytest.param("0::/a/b\n", {"cgroup2:/": "two"}, "two/a/b", V2, id="v2"),
        pytest.param("0::/a/b\n", {"cgroup2:/": "two"}, "two/a", V2, id="v2, the controller further up"),
        pytest.param("0::/\n", {"cgroup2:/": "two"}, "two", V2, id="v2, a container's own namespace"),
        pytest.param("0::/../b\n", {"cgroup2:/": "two"}, "two", V2, id="v2, outside of its namespace"),
        pytest.param("4:cpu,cpuacct:/pod/c\n", {"cpu,cpuacct:/": "one"}, "one/pod/c", V1, id="v1"),
        pytest.param("4:cpu:/pod/c\n", {"cpu:/pod/c": "one"}, "one", V1, id="v1, the container's folder mounted"),
        pytest.param("4:cpu:/pod/c\n", {"cpu:/other": "one"}, "one", V1, id="v1, the host's path"),
        pytest.param("4:cpu:/c\n0::/\n", {"cgroup2:/": "two", "cpu:/": "one"}, "one/c", V1, id="both"),
    ],
)
def test_the_cpu_stat_of_a_process(tmp_path: Path, cgroup: str, mounts: dict[str, str], stat: str, text: str) -> None:
    """cpu_stat finds the nearest folder that counts periods, for both versions and any mount point."""
    (tmp_path / "two" / "a" / "b").mkdir(parents=True)
    (tmp_path / "two" / "a" / "b" / "cpu.stat").write_text(NOT_LIMITED, encoding="utf-8")
    (tmp_path / stat).mkdir(parents=True, exist_ok=True)
    (tmp_path / stat / "cpu.stat").write_text(text, encoding="utf-8")
    found = cpu_stat(_proc(tmp_path, cgroup, mounts))
    assert found == tmp_path / stat / "cpu.stat"
    counted = throttling(found)
    assert counted is not None
    assert counted[:2] == (20, 18)
    assert counted.throttled_seconds == pytest.approx(1.25037, abs=1e-5)


@pytest.mark.parametrize("text", [None, "", NOT_LIMITED, "not what a kernel writes\n"], ids=repr)
def test_what_counts_no_periods(tmp_path: Path, text: str | None) -> None:
    """Both functions return None if the file is absent, is empty, or belongs to a cgroup without the cpu controller."""
    proc = _proc(tmp_path, "0::/\n", {"cgroup2:/": "."})
    if text is not None:
        (tmp_path / "cpu.stat").write_text(text, encoding="utf-8")
    assert cpu_stat(proc) is None
    assert throttling(tmp_path / "cpu.stat") is None
    assert throttling(None) is None


def test_a_system_without_cgroups(tmp_path: Path) -> None:
    """`cpu_stat` returns None if /proc does not have these files, as on macOS."""
    assert cpu_stat(tmp_path / "no-proc") is None


@pytest.mark.parametrize("budget", [CgroupV1, CgroupV2])
def test_the_kernels_own(budget: type[CgroupV1] | type[CgroupV2]) -> None:
    """A process that computes on a quarter of a core finds that it is throttled."""
    code = (
        "import time\n"
        "from asgi_doctor.cgroup import cpu_stat, throttling\n"
        "while time.process_time() < 0.3: pass\n"
        "print(*throttling(cpu_stat()))"
    )
    try:
        limited = budget(LIMITS["capped"])
    except Unavailable as reason:
        pytest.skip(str(reason))
    try:
        ended = subprocess.run(
            limited.command([sys.executable, "-c", code], {}), capture_output=True, encoding="utf-8", check=True
        )
    finally:
        limited.close()
    periods, throttled, seconds = map(float, ended.stdout.split())
    assert periods >= throttled > 0
    assert seconds > 0
