"""The limit of open files is raised as far as each system allows."""

import resource

import pytest

from app.open_files import ENOUGH, raise_limit

UNLIMITED = resource.RLIM_INFINITY
LINUX, MACOS = 1_048_576, 10_240  # the kernel's own limit


@pytest.mark.parametrize(
    ("soft", "hard", "kernel", "raised"),
    [
        (1024, LINUX, LINUX, ENOUGH),
        (1024, 4096, LINUX, 4096),
        (1024, UNLIMITED, LINUX, ENOUGH),
        (ENOUGH * 2, LINUX, LINUX, ENOUGH * 2),
        (UNLIMITED, UNLIMITED, LINUX, None),
        (256, UNLIMITED, MACOS, 8192),
    ],
)
def test_limit(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, kernel: int, raised: int | None) -> None:
    """The soft limit never decreases, and an unlimited hard limit may be more than the kernel allows."""
    limits = [soft, hard]

    def set_limit(_: int, wanted: tuple[int, int]) -> None:
        if wanted[0] > kernel or wanted[1] != hard:
            raise ValueError("current limit exceeds maximum limit")
        limits[:] = wanted

    monkeypatch.setattr(resource, "getrlimit", lambda _: tuple(limits))
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    assert raise_limit() == raised
    assert limits[0] == (UNLIMITED if raised is None else raised)
