"""Both ways to a webhook's handler, the two doors, give the same responses, messages, log lines and metrics.

One door is ASGI. The second door is the server's callbacks. See `tests.harness.service.READERS`.
"""

import asyncio
import base64
import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.web.middleware import PATH
from local.sample_events import SAMPLES
from tests.harness.service import PASSWORD, USER
from tests.web.two_doors import MAX_BODY, REFUSED, Side

EVENT = json.loads((SAMPLES / "default.json").read_bytes())
RIGHT = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
BODIES = {
    "event": json.dumps(EVENT).encode(),
    "ignored": json.dumps({**EVENT, "event_type": "customer_changed"}).encode(),
    "refused": json.dumps({**EVENT, "note": REFUSED}).encode(),
    "character": json.dumps({**EVENT, "note": "\uffff"}, ensure_ascii=False).encode(),
    "lone surrogate": json.dumps({**EVENT, "note": "\ud800"}).encode(),
    "lone surrogate in the id": json.dumps({**EVENT, "id": "\ud800"}).encode(),
    "nan": b'{"id": NaN}',
    "no event": b"{}",
    "no JSON": b"\x00\xff",
    "empty": b"",
    "too long": b" " * (MAX_BODY + 1),
}
_MOSTLY_RIGHT = [f"Basic {RIGHT}"] * 6
_WRONG = ["Basic bm86bm8=", f"Bearer {RIGHT}", "Basic ?", None]
AUTHORIZATIONS = st.sampled_from([*_MOSTLY_RIGHT, f"basic  {RIGHT}", *_WRONG])
TARGETS = st.sampled_from(
    [f"POST {PATH}"] * 8
    + [f"POST {PATH}?x=1", f"GET {PATH}", f"POST {PATH}/", "POST /webhooks%2Fchargebee", "GET /healthz", "HEAD /readyz"]
)
OTHERS = st.lists(
    st.sampled_from(
        [
            *("Content-Encoding: gzip", "Content-Encoding: identity", "Content-Encoding: identity, gzip"),
            *("Expect: 100-continue", "Connection: close", "Connection: keep-alive", "Upgrade: websocket"),
            *("Connection: Upgrade", "Content-Type: text/plain"),
            "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
            "traceparent: nonsense",
        ]
    ),
    max_size=2,
)


# Header lines that make a head ambiguous if they are added to the usual lines.
AMBIGUOUS = st.sampled_from(
    [[]] * 8 + [["Host: another"], [f"Authorization: Basic {RIGHT}"], ["Transfer-Encoding: gzip"]]
)


@st.composite
def requests(draw: st.DrawFn, *, ambiguous: bool) -> bytes:
    body = BODIES[draw(st.sampled_from(["event"] * 4 + list(BODIES)))]
    version = draw(st.sampled_from(["1.1"] * 6 + ["1.0"]))
    headers = [f"{draw(TARGETS)} HTTP/{version}", "Host: x", *(draw(AMBIGUOUS) if ambiguous else [])]
    if (authorization := draw(AUTHORIZATIONS)) is not None:
        headers.append(f"Authorization: {authorization}")
    headers += draw(OTHERS)
    may_be_chunked = version == "1.1" and (ambiguous or "Upgrade: websocket" not in headers)
    if may_be_chunked and draw(st.integers(0, 3)) == 0:
        headers.append("Transfer-Encoding: chunked")
        size = draw(st.sampled_from([1000, 8000, MAX_BODY * 2]))
        parts = [body[start : start + size] for start in range(0, len(body), size)]
        content = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    else:
        headers.append(f"Content-Length: {len(body)}")
        content = body
    return "\r\n".join([*headers, "", ""]).encode() + content


@st.composite
def connections(draw: st.DrawFn) -> list[bytes]:
    """Draws the segments of one or two requests, cut at any bytes, and sometimes without their end.

    The second request is never ambiguous, because the doors would differ: after a webhook that is answered at once, the
    second door would respond 400, and over ASGI, the connection would be closed after the first response.
    """
    sent = draw(requests(ambiguous=True)) + draw(st.one_of(st.just(b""), requests(ambiguous=False)))
    cuts = sorted(draw(st.lists(st.integers(0, len(sent)), max_size=4)))
    segments = [sent[start:end] for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    if draw(st.integers(0, 4)) == 0:
        segments = segments[: draw(st.integers(1, len(segments)))]
    return [segment for segment in segments if segment]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def sides(runner: asyncio.Runner) -> Iterator[tuple[Side, Side]]:
    async def make() -> tuple[Side, Side]:
        return Side("over_asgi"), Side("callbacks")

    made = runner.run(make())
    yield made
    for one in made:
        one.close()


@settings(max_examples=100)
@given(segments=connections(), end=st.sampled_from(["after the answer", "before the answer", "at once", "half-close"]))
def test_both_doors_do_the_same(
    runner: asyncio.Runner, sides: tuple[Side, Side], segments: list[bytes], end: str
) -> None:
    """Both doors have the same effects for any heads, bodies, segments, pipelining and aborts."""
    over_asgi, second = (runner.run(one.handle(segments, end)) for one in sides)
    assert second == over_asgi
