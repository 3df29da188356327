"""Tests which release is named as the cure."""

import pytest

from app.settings import Release
from asgi_doctor.findings import BlockedLocation
from asgi_doctor.stacks import Location
from local.doctor.cures import CLIENT, COMPUTING, WAITING, Cure, cure

LINE = Location("/shop/orders.py", 10, "create")
PACKAGES = "/venv/lib/python3.11/site-packages"


@pytest.mark.parametrize(
    ("inner", "computing", "expected", "release"),
    [
        (Location("/usr/lib/python3.11/socket.py", 1, "SocketIO.readinto"), 0.1, WAITING, Release.V08_NATIVE_ASYNC),
        (
            Location("/usr/lib/python3.11/json/decoder.py", 1, "JSONDecoder.decode"),
            0.9,
            COMPUTING,
            Release.V03_THREADPOOL,
        ),
        (
            Location(f"{PACKAGES}/botocore/session.py", 1, "Session.create_client"),
            0.9,
            CLIENT,
            Release.V06_SHARED_QUEUE,
        ),
        (Location(f"{PACKAGES}/httpx/_client.py", 1, "AsyncClient.__init__"), 0.9, CLIENT, Release.V06_SHARED_QUEUE),
    ],
    ids=lambda value: value.function if isinstance(value, Location) else "",
)
def test_the_cure(inner: Location, computing: float, expected: Cure, release: Release) -> None:
    """Building a client is recognised by the constructor; computing and waiting are told apart by CPU time."""
    found = cure(BlockedLocation(LINE, (LINE, inner), times=1, seconds=1.0, longest=1.0, computing=computing))
    assert found is expected
    assert release in found.releases
