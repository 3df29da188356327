"""attack.sh attacks a service that is not this project's."""

from pathlib import Path

import pytest

from loadtest.stage.here import is_here
from tests.loadtest.attacks import attack


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--body", "order.json"), "--method, --body, --header, --health: without --url, the attack sends webhooks"),
        (("--url", "http://127.0.0.1:1", "--header", "s3cret"), "argument --header: allowed is 'NAME: VALUE'"),
        (
            ("--url", "http://127.0.0.1:1/orders", "--queue-url", "http://127.0.0.1:2/q"),
            "only webhooks of this project",
        ),
        (("--url", "http://127.0.0.1:1", "--body", "/no/file"), "No such file or directory: '/no/file'"),
        (("--url", "http://192.0.2.1/orders"), "this is not an address of this machine"),  # RFC 5737: for documentation
    ],
)
def test_failures_are_one_line(arguments: tuple[str, ...], error: str, tmp_path: Path) -> None:
    """The exit code is 2, no header's value is printed, and no request is sent to another machine."""
    ended = attack(*arguments, "--out", str(tmp_path))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert error in ended.stderr
    assert "s3cret" not in ended.stderr


def test_which_addresses_are_here() -> None:
    """Loopback addresses with any port belong to this machine. An address reserved for documentation does not."""
    assert all(is_here(f"http://{host}:8000/x") for host in ("127.0.0.1", "127.1.2.3", "[::1]", "localhost"))
    assert not is_here("http://192.0.2.1:8000")
    assert not is_here("https://[2001:db8::1]")
