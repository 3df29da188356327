"""What questions are measured with: Postgres, the slow upstream, and their applications."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.measurement.beside import Beside, open_beside
from lab.measurement.stage import Stage

Until = Callable[[Callable[[], bool]], None]


@pytest.fixture(scope="session")
def beside() -> Iterator[Beside]:
    with open_beside(database=True) as beside:
        yield beside


@pytest.fixture
def stage(beside: Beside, tmp_path: Path) -> Stage:
    return Stage(beside, tmp_path, quick=True)


@pytest.fixture
def until() -> Until:
    """Waits for a condition that becomes true by itself, however slow the machine is."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    return wait
