"""Tests the live page's guard; ../test_guard.py tests what all local servers share."""

import httpx
import pytest

from tests.local.live.pretended import Pretended


def test_its_own_addresses(url: str) -> None:
    """127.0.0.1 and localhost may read, and press buttons with the page's Origin."""
    for origin in (url, url.replace("127.0.0.1", "localhost")):
        host = {"Host": origin.removeprefix("http://")}
        assert httpx.get(url, headers=host, timeout=60).status_code == 200
        assert httpx.post(f"{url}/delay/0", headers=host | {"Origin": origin}, timeout=60).status_code == 204


@pytest.mark.parametrize("path", ["/", "/events", "/saved.html"])
def test_a_foreign_host(url: str, path: str) -> None:
    """Requests for a name that another site has pointed at loopback read nothing."""
    port = url.rpartition(":")[2]
    for host in (f"attacker.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1:{port}.attacker.example"):
        assert httpx.get(url + path, headers={"Host": host}, timeout=60).status_code == 403


@pytest.mark.parametrize("origin", ["http://attacker.example", "null", "https://127.0.0.1"])
def test_a_foreign_origin(url: str, service: Pretended, origin: str) -> None:
    """Another site's form or script presses no button."""
    for path in ("/send/burst", "/delay/500"):
        assert httpx.post(url + path, headers={"Origin": origin}, timeout=60).status_code == 403
    assert (service.webhooks, service.delay) == ([], None)
