"""Runs Go's httputil.ReverseProxy in front of a service."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.missing import require_go


@contextmanager
def reverse_proxy(url: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Builds the proxy in `folder`, and yields its address. If Go is missing, skips the test, or fails it in CI."""
    require_go()
    binary = folder / "reverse_proxy"
    subprocess.run(["go", "build", "-o", binary, "."], cwd=Path(__file__).parent, check=True)
    with subprocess.Popen([binary, url], stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            host, _, port = process.stdout.readline().strip().rpartition(":")
            yield host, int(port)
        finally:
            process.kill()
