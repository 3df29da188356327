"""The signature, compared with botocore's."""

import math
import string
from datetime import UTC, datetime
from unittest.mock import patch

import botocore.credentials
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from hypothesis import example, given
from hypothesis import strategies as st

from app.sqs import signing
from app.sqs.signing import Credentials, Signer

TARGET = "AmazonSQS.SendMessageBatch"
HOST = "sqs.eu-central-1.amazonaws.com"
NOON = 1_750_000_000.0 // 86400 * 86400 + 43200
KEYS = st.text(string.ascii_letters + string.digits + "/+=", min_size=1)
CREDENTIALS = st.builds(Credentials, KEYS, st.text(min_size=1).filter(str.isprintable), st.none() | KEYS)


def parsed(head: bytes) -> tuple[str, dict[str, str]]:
    """The request line, and the headers."""
    request_line, *lines = head.decode().removesuffix("\r\n\r\n").split("\r\n")
    headers = dict(line.split(":", 1) for line in lines)
    assert len(headers) == len(lines)
    return request_line, headers


def by_botocore(
    headers: dict[str, str], url: str, body: bytes, credentials: Credentials, region: str, now: float
) -> AWSRequest:
    """A request with these headers, with what botocore adds to it at `now`."""
    request = AWSRequest("POST", url, headers=headers, data=body)
    frozen = botocore.credentials.Credentials(*credentials)
    with patch("botocore.auth.get_current_datetime", lambda: datetime.fromtimestamp(math.floor(now), UTC)):
        SigV4Auth(frozen, "sqs", region).add_auth(request)
    return request


@given(
    body=st.binary(),
    credentials=CREDENTIALS,
    region=st.from_regex(r"[a-z]{2}-[a-z]{4,9}-[1-9]", fullmatch=True),
    host=st.sampled_from([HOST, "127.0.0.1:4566", "localhost", "[::1]:4566"]),
    path=st.sampled_from(["/", "/prefix", "/prefix/of/two"]),
    now=st.floats(0, 4e9),
)
@example(b"", Credentials("a", "b"), "eu-central-1", HOST, "/", 86399.999999999)  # the last moment of a day
def test_the_signature_is_botocores(
    body: bytes, credentials: Credentials, region: str, host: str, path: str, now: float
) -> None:
    """Any request of this kind has the same Authorization, date and token as botocore's."""
    line, headers = parsed(Signer(host, region, TARGET, path=path).head(body, credentials, now))
    assert line == f"POST {path} HTTP/1.1"
    assert headers.pop("content-length") == str(len(body))
    authorization = headers.pop("authorization")
    unsigned = {name: headers[name] for name in ("content-type", "host", "x-amz-target")}
    expected = by_botocore(unsigned, f"http://{host}{path}", body, credentials, region, now)
    assert authorization == expected.headers["Authorization"]
    assert headers["x-amz-date"] == expected.headers["X-Amz-Date"]
    assert headers.get("x-amz-security-token") == expected.headers.get("X-Amz-Security-Token") == credentials.token


@given(
    st.lists(
        st.tuples(
            st.sampled_from([Credentials("a", "one"), Credentials("a", "two"), Credentials("b", "one", "token")]),
            st.sampled_from([NOON, NOON + 43199, NOON + 43200, NOON + 86400]),
        )
    )
)
def test_the_kept_key_does_not_matter(calls: list[tuple[Credentials, float]]) -> None:
    """The kept key, of another day or of other credentials, does not change the signature."""
    signer = Signer(HOST, "eu-central-1", TARGET)
    for credentials, now in calls:
        head = signer.head(b"body", credentials, now)  # the kept key is that of the call before
        signing._signing_key.cache_clear()
        assert head == signer.head(b"body", credentials, now)


def test_the_days_key_is_derived_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key takes four HMACs, and is kept for its day and secret key. Each request takes one more."""
    count = 0
    plain = signing._hmac

    def counting(key: bytes, text: str) -> bytes:
        nonlocal count
        count += 1
        return plain(key, text)

    monkeypatch.setattr(signing, "_hmac", counting)
    signing._signing_key.cache_clear()
    signer = Signer(HOST, "eu-central-1", TARGET)

    def hmacs(credentials: Credentials, now: float) -> int:
        before = count
        signer.head(b"body", credentials, now)
        return count - before

    first, second = Credentials("a", "one"), Credentials("a", "two")
    assert hmacs(first, NOON) == 5
    assert [hmacs(first, NOON + seconds) for seconds in (0, 1, 43199)] == [1, 1, 1]
    assert [hmacs(first, NOON + seconds) for seconds in (43200, 43201)] == [5, 1]  # the next day
    assert [hmacs(second, NOON + 43202), hmacs(second, NOON + 43203)] == [5, 1]
    assert hmacs(second._replace(token="token"), NOON + 43204) == 1
