"""A response is written with as few system calls as possible."""

from unittest.mock import Mock

import pytest

from app.web.server.writer import Writer

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"


@pytest.fixture
def transport() -> Mock:
    return Mock(spec=["write", "close", "abort", "is_closing", "get_extra_info"])


def _written(transport: Mock) -> list[bytes]:
    return [call.args[0] for call in transport.write.call_args_list]


def test_head_and_body_are_one_write(transport: Mock) -> None:
    """The head is written with the body, and the next response begins with its own head."""
    writer = Writer(transport)
    for _ in range(2):
        writer.write(HEAD)
        writer.write(b"ok")
    assert _written(transport) == [HEAD + b"ok"] * 2


def test_a_head_without_body_is_written_at_the_end(transport: Mock) -> None:
    """A head without a body is written at the end of the response, or of the connection."""
    writer = Writer(transport)
    writer.write(HEAD)
    assert _written(transport) == []
    writer.flush()
    writer.flush()
    assert _written(transport) == [HEAD]
    writer.write(HEAD)
    writer.close()
    assert _written(transport) == [HEAD, HEAD]
    transport.close.assert_called_once_with()


def test_100_continue_is_written_at_once(transport: Mock) -> None:
    """100 Continue is written at once, because the client waits for it before it sends the body."""
    Writer(transport).write(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert _written(transport) == [b"HTTP/1.1 100 Continue\r\n\r\n"]


def test_everything_else_is_the_transport_s(transport: Mock) -> None:
    """uvicorn asks the transport for addresses."""
    assert Writer(transport).get_extra_info is transport.get_extra_info
