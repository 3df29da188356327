"""Finds the releases that show how to fix a line that blocks the event loop."""

from typing import NamedTuple

from app.settings import Release
from asgi_doctor.findings import BlockedLocation


class Cure(NamedTuple):
    """A fix for a line that blocks the event loop, or for calls that wait for a thread.

    `fault` says what is wrong, and what to do instead. Each of `releases` shows one way to do that.
    """

    fault: str
    releases: tuple[Release, ...]


CLIENT = Cure(
    "builds a client: build it once, in the lifespan, instead of for each request", (Release.V06_SHARED_QUEUE,)
)
WAITING = Cure(
    "waits: use an async client and await it, or let a thread wait", (Release.V08_NATIVE_ASYNC, Release.V03_THREADPOOL)
)
COMPUTING = Cure(
    "computes: do less, or compute in a thread (which shares the GIL with the event loop) or in a process (which does"
    " not)",
    (Release.V10_LEAN_CLIENT, Release.V03_THREADPOOL),
)
TOKENS = Cure(
    "calls waited for a thread: allow more threads, use each for less time, or use none",
    (Release.V04_MORE_TOKENS, Release.V07_SYNC_HANDLER, Release.V08_NATIVE_ASYNC),
)

# Functions that build a client. Each entry is the end of the file's path, and the function's name. Building a client
# takes long, because most of these functions load API models or CA bundles.
_BUILDERS = (
    ("botocore/session.py", "Session.create_client"),
    ("boto3/session.py", "Session.__init__"),
    ("boto3/session.py", "Session.resource"),
    ("httpx/_client.py", "Client.__init__"),
    ("httpx/_client.py", "AsyncClient.__init__"),
    ("ssl.py", "create_default_context"),
    ("urllib3/util/ssl_.py", "create_urllib3_context"),
)
_MOSTLY = 0.5


def cure(blocked: BlockedLocation) -> Cure:
    """Returns the fix for one line that blocks the event loop.

    The fix depends on whether the line builds a client, mostly computes, or mostly waits.
    """
    if any(
        place.file.endswith(file) and place.function == function
        for place in blocked.stack
        for file, function in _BUILDERS
    ):
        return CLIENT
    return COMPUTING if blocked.computing > blocked.seconds * _MOSTLY else WAITING
