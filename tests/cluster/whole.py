"""Runs deliver.py inside the stand-in's pod, while a test disturbs web and workers."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from tests.cluster import variant
from tests.cluster.cluster import DEAD_LETTERS, NAMESPACE, KubectlError, purge

LIMIT = 3500  # calls a minute, as in Chargebee's largest plan
_CODE = (Path(__file__).parent / "deliver.py").read_text(encoding="utf-8")


class Delivered(NamedTuple):
    """The audit. `refused`: the number of responses other than 200, after which the webhook was delivered again."""

    statuses: dict[str, int]
    expected: int
    problems: list[str]
    report: str

    @property
    def refused(self) -> int:
        return sum(count for status, count in self.statuses.items() if status != "200")

    def __str__(self) -> str:
        problems = f"; {len(self.problems)} problems: {'; '.join(self.problems[:3])}" if self.problems else ""
        return f"{self.report}; {self.refused} of {sum(self.statuses.values())} deliveries repeated{problems}"


class Delivery:
    """A running deliver.py."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        assert process.stdout is not None
        self._lines: IO[str] = process.stdout
        self.await_line("seeded")

    def await_line(self, word: str) -> None:
        if (line := self._lines.readline().strip()) != word:
            raise KubectlError(f"deliver.py: {line or 'it has ended'}")

    def finish(self) -> Delivered:
        """Waits until all webhooks are delivered and all invoices closed. Returns the audit. Raises KubectlError."""
        self.await_line("delivered")
        return Delivered(**json.loads(self._lines.readline() or "{}"))


@contextmanager
def delivering(count: int, rate: float) -> Iterator[Delivery]:
    """Delivers `count` webhooks at `rate` a second, in the background. Stops when the context ends."""
    arguments = ["http://web", str(count), str(rate), str(LIMIT)]
    command = ["kubectl", "--namespace", NAMESPACE, "exec", "deployment/chargebee", "--", "python", "-c", _CODE]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            yield Delivery(process)
        finally:
            process.terminate()


def deploy(patches: tuple[Any, ...] = ()) -> None:
    """Deploys two pods of each process, and empties the queues."""
    variant.apply(workers=2, rate=LIMIT, patches=patches)
    purge()
    purge(DEAD_LETTERS)
