"""The signatures that AWS publishes as examples of Signature Version 4, and the bytes of our own requests.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html. AWS's examples have other
methods and headers than the lean client's requests. So they show that botocore, with which `test_signing` compares
whole requests, is right, and that the client's key and hashes are.
"""

import hashlib
from datetime import UTC, datetime
from typing import NamedTuple
from unittest.mock import patch

import botocore.credentials
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from app.sqs.signing import Credentials, Signer, _hmac, _signing_key

KEYS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
HOST, DATE = "example.amazonaws.com", "20150830T123600Z"
WHEN = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
FORM = {"content-type": "application/x-www-form-urlencoded"}


class Vector(NamedTuple):
    """A request, and the signature that AWS gives for it. `signed_path`, `signed_query`: what the signature covers."""

    method: str
    path: str
    signature: str
    headers: dict[str, str] = {}  # noqa: RUF012  # nothing changes it
    body: bytes = b""
    signed_path: str = "/"
    query: str = ""
    signed_query: str = ""


VANILLA = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
VECTORS = {
    "get": Vector("GET", "/", VANILLA),
    "post": Vector("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    "form": Vector(
        "POST", "/", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a", FORM, b"Param1=value1"
    ),
    "query": Vector(
        *("POST", "/", "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
        query="?Param1=value1",
        signed_query="Param1=value1",
    ),
    "order": Vector(
        *("GET", "/", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        query="?Param2=value2&Param1=value1",
        signed_query="Param1=value1&Param2=value2",
    ),
    "header": Vector(
        *("POST", "/", "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"), {"my-header1": "value1"}
    ),
    "case": Vector(
        *("POST", "/", "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"), {"my-header1": "VALUE1"}
    ),
    "slashes": Vector("GET", "//", VANILLA),
    "dot": Vector("GET", "/./", VANILLA),
    "relative": Vector("GET", "/example/..", VANILLA),
    "two levels": Vector("GET", "/example1/example2/../..", VANILLA),
}


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_botocore(vector: Vector) -> None:
    """botocore signs AWS's examples as AWS does."""
    url = f"https://{HOST}{vector.path}{vector.query}"
    request = AWSRequest(vector.method, url, headers=vector.headers, data=vector.body)
    with patch("botocore.auth.get_current_datetime", lambda: WHEN):
        SigV4Auth(botocore.credentials.Credentials(*KEYS), "service", "us-east-1").add_auth(request)
    assert request.headers["Authorization"].endswith(f"Signature={vector.signature}")


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_the_clients_key_and_hashes(vector: Vector) -> None:
    """The client's key signs the examples' canonical requests as AWS does."""
    headers = sorted((vector.headers | {"host": HOST, "x-amz-date": DATE}).items())
    canonical = [vector.method, vector.signed_path, vector.signed_query]
    canonical += [*(f"{name}:{value}" for name, value in headers), "", ";".join(name for name, _ in headers)]
    canonical.append(hashlib.sha256(vector.body).hexdigest())
    hashed = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{DATE}\n20150830/us-east-1/service/aws4_request\n{hashed}"
    key = _signing_key(KEYS.secret_key, "20150830", "us-east-1", "service")
    assert _hmac(key, text).hex() == vector.signature


def test_the_key_of_the_documentation() -> None:
    """AWS's documentation shows this key for 30 August 2015, us-east-1 and IAM."""
    key = _signing_key(KEYS.secret_key, "20150830", "us-east-1", "iam")
    assert key.hex() == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"


HEAD = (
    b"POST / HTTP/1.1\r\n"
    b"content-type:application/x-amz-json-1.0\r\n"
    b"host:sqs.us-east-1.amazonaws.com\r\n"
    b"x-amz-date:20150830T123600Z\r\n"
    b"%bx-amz-target:AmazonSQS.SendMessageBatch\r\n"
    b"content-length:2\r\n"
    b"authorization:AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/sqs/aws4_request,"
    b" SignedHeaders=content-type;host;x-amz-date;%bx-amz-target, Signature=%b\r\n\r\n"
)


@pytest.mark.parametrize(
    ("token", "signature"),
    [
        (None, b"4cb6d5bb1be783affc6aea26bee0144d4797625de4cd084639b8f806b28643d6"),
        ("AQoDYXdzEPT//////////wEXAMPLE==", b"d0ce0da33cfd8a40388ef457b184d12feedb3f177423e116cd878b3bcfb24fce"),
    ],
)
def test_the_bytes_of_a_request(token: str | None, signature: bytes) -> None:
    """The head of a request is these bytes. botocore has computed the signatures."""
    signer = Signer("sqs.us-east-1.amazonaws.com", "us-east-1", "AmazonSQS.SendMessageBatch")
    header = b"x-amz-security-token:%b\r\n" % token.encode() if token else b""
    name = b"x-amz-security-token;" if token else b""
    assert signer.head(b"{}", KEYS._replace(token=token), WHEN.timestamp()) == HEAD % (header, name, signature)
