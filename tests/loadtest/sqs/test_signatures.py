"""The stand-in accepts requests that botocore has signed, and rejects all others."""

import json
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from loadtest.stage.stand_in import StandIn

LOCAL = Credentials("local", "local")
PATHS = st.text(max_size=20).map(lambda text: "/" + quote(text))
VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=30)


def signed(stand_in: StandIn, path: str, body: bytes, extra: str = "", by: Credentials = LOCAL) -> AWSPreparedRequest:
    headers = {"X-Amz-Target": "AmazonSQS.Nothing", "Content-Type": "application/x-amz-json-1.0", "X-Amz-Extra": extra}
    request = AWSRequest("POST", stand_in.endpoint + path, headers, body)
    SigV4Auth(by, "sqs", "eu-central-1").add_auth(request)
    return request.prepare()


def send(request: AWSPreparedRequest) -> tuple[int, str]:
    """Returns the status, and the error's name without its namespace."""
    url = urlsplit(request.url)
    with closing(HTTPConnection(url.netloc, timeout=30)) as connection:
        assert isinstance(request.body, bytes)
        connection.request("POST", request.url.partition(url.netloc)[2], request.body, dict(request.headers.items()))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())["__type"].partition("#")[2]


@given(path=PATHS, body=st.binary(min_size=1), extra=VALUES)
def test_what_botocore_signs_is_taken(keeping: StandIn, path: str, body: bytes, extra: str) -> None:
    """The signature is accepted for any path, body and header, so the error is about the unknown operation."""
    assert send(signed(keeping, path, body, extra)) == (400, "UnsupportedOperation")


@given(path=PATHS, body=st.binary(min_size=1), bit=st.integers(0, 7), data=st.data())
def test_a_changed_body(keeping: StandIn, path: str, body: bytes, bit: int, data: st.DataObject) -> None:
    """The stand-in rejects a body in which one bit was changed."""
    request = signed(keeping, path, body)
    position = data.draw(st.integers(0, len(body) - 1))
    request.body = body[:position] + bytes([body[position] ^ 1 << bit]) + body[position + 1 :]
    assert send(request) == (403, "InvalidSignatureException")


@pytest.mark.parametrize(
    "change",
    [
        lambda request: setattr(request, "url", request.url + "x"),
        lambda request: setattr(request, "url", request.url + "?x=1"),
        lambda request: request.headers.update({"X-Amz-Target": "AmazonSQS.Nothinh"}),
        lambda request: request.headers.update({"X-Amz-Extra": "y"}),
        lambda request: request.headers.update({"Content-Type": "application/json"}),
    ],
    ids=["path", "query", "target", "another header", "content type"],
)
def test_a_changed_request(keeping: StandIn, change: Callable[[AWSPreparedRequest], None]) -> None:
    """The signature covers the path, the query and each of these headers."""
    request = signed(keeping, "/path", b"{}", "x")
    change(request)
    assert send(request) == (403, "InvalidSignatureException")


def test_other_credentials(keeping: StandIn) -> None:
    """A wrong secret, an unknown key, an unsigned token and no signature are rejected; a signed token is accepted."""
    assert send(signed(keeping, "/", b"{}", by=Credentials("local", "wrong"))) == (403, "InvalidSignatureException")
    assert send(signed(keeping, "/", b"{}", by=Credentials("other", "local"))) == (403, "InvalidClientTokenId")
    assert send(signed(keeping, "/", b"{}", by=Credentials("local", "local", "token"))) == (400, "UnsupportedOperation")
    request = signed(keeping, "/", b"{}")
    request.headers["X-Amz-Security-Token"] = "token"
    assert send(request) == (403, "IncompleteSignature")
    del request.headers["Authorization"]
    assert send(request) == (403, "MissingAuthenticationToken")
