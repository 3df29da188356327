"""The parser finds the same requests, however their bytes arrive."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.heads import HeadRefused
from app.server.parser import RequestParser

TRAILERS = st.sampled_from([b"", b"X: 1\r\n", b"X: 1\r\nHost: y\r\n"])
CONTENT = st.one_of(st.binary(max_size=40), st.sampled_from([b"\r\n\r\n", b"a\r\n\r\nGET / HTTP/1.1\r\n\r\n"]))


class Sent(NamedTuple):
    """A request and its bytes."""

    method: str
    body: bytes
    data: bytes


@st.composite
def requests(draw: st.DrawFn) -> Sent:
    if draw(st.booleans()):
        return Sent("GET", b"", b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n")
    parts = draw(st.lists(CONTENT.filter(bool), max_size=3))
    body = b"".join(parts)
    if draw(st.booleans()):
        return Sent("POST", body, b"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Sent("POST", body, head + chunks + b"0\r\n" + draw(TRAILERS) + b"\r\n")


def parsed(segments: list[bytes]) -> list[tuple[str, bytes]]:
    """Returns the method and the body of each request that is complete."""
    parser, found, body = RequestParser(), list[tuple[str, bytes]](), b""
    for segment in segments:
        rest = segment
        while rest:
            length = parser.left if parser.left > 0 else parser.cut(rest)
            parser.feed(rest[:length])
            rest = rest[length:]
            body += b"".join(parser.body)
            parser.body.clear()
            if parser.complete and parser.left == 0:
                found.append((parser.method, body))
                body = b""
                parser.begin()
    parser.close()
    return found


@given(st.lists(requests(), min_size=1, max_size=4), st.data())
def test_any_segments(sent: list[Sent], data: st.DataObject) -> None:
    """Requests behind each other, with any bodies and trailers, cut anywhere."""
    stream = b"".join(request.data for request in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    segments = [stream[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    expected = [(request.method, request.body) for request in sent]
    assert parsed(segments) == expected
    assert parsed([stream[at : at + 1] for at in range(len(stream))]) == expected


@pytest.mark.parametrize(
    "head",
    [
        *("GET / RTSP/1.0", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.2", "GET / HTTP/2.0"),
        *("CONNECT / HTTP/1.1", "FETCH / HTTP/1.1", " GET / HTTP/1.1", "GET /#x HTTP/1.1", "GET / http/1.1"),
    ],
)
def test_a_request_line_that_is_refused(head: str) -> None:
    """Methods, versions and spaces are exactly those of RFC 9112."""
    parser = RequestParser()
    with pytest.raises(HeadRefused):
        parser.feed(f"{head}\r\nHost: x\r\n\r\n".encode())


@pytest.mark.parametrize(
    "host", ["", "x", "x:80", "x:", "127.0.0.1:8000", "[::1]:80", " x \t", "a_b", "x!$&'()*+,;=%41"]
)
def test_a_host(host: str) -> None:
    parser = RequestParser()
    parser.feed(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert parser.complete


@pytest.mark.parametrize(
    "host", ["a b", "user@x", "x/y", "x:y", "http://x", "[::1", "x?y", "x#y", "x:80:80", "a%", "a%zz", "[zz]", '"x"']
)
def test_a_host_that_is_refused(host: str) -> None:
    """RFC 9112, 3.2: a Host whose value is invalid is a 400."""
    parser = RequestParser()
    with pytest.raises(HeadRefused):
        parser.feed(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())


def test_endless_empty_lines() -> None:
    """They belong to no request, and would keep a connection open beyond every deadline."""
    parser = RequestParser()
    parser.skip_empty_lines(b"\r\n" * 30_000)
    with pytest.raises(HeadRefused):
        parser.skip_empty_lines(b"\r\n" * 3_000)


def test_a_body_in_many_chunks() -> None:
    """Only bytes outside of chunks are limited, also if one read has many chunks."""
    parser = RequestParser()
    parser.feed(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(4):
        parser.feed(b"ff\r\n%b\r\n" % (b"x" * 255) * 400)
    assert len(b"".join(parser.body)) == 4 * 400 * 255
    with pytest.raises(HeadRefused):
        parser.feed(b"1;" + b"x" * 70_000)
