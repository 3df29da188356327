"""Tests that clients trust the stand-ins' certificates only with the bundle."""

from pathlib import Path

import boto3
import pytest
from botocore.exceptions import SSLError
from botocore.httpsession import DEFAULT_CA_BUNDLE

from local import embedded_aws
from local.peek import peek
from local.tls import certificates

BEGIN = "BEGIN CERTIFICATE"
BOTOCORES = Path(DEFAULT_CA_BUNDLE).read_text(encoding="utf-8").count(BEGIN)


@pytest.mark.parametrize(("share", "kept"), [(1.0, BOTOCORES), (0.5, round(BOTOCORES / 2)), (0.0, 0)])
def test_the_bundle(share: float, kept: int) -> None:
    """The bundle has botocore's CAs, or a share of them, and the test CA."""
    with certificates(share) as files:
        assert files.bundle.read_text(encoding="utf-8").count(BEGIN) == kept + 1
        assert files.ca.read_text(encoding="utf-8") in files.bundle.read_text(encoding="utf-8")
    assert not files.key.exists()


@pytest.mark.slow
def test_the_embedded_aws_over_tls() -> None:
    """boto3 and `peek` trust the certificate only with the bundle."""
    with certificates() as files, embedded_aws.start(tls=files) as aws:
        session = boto3.Session("x", "x", region_name=embedded_aws.REGION)
        trusting = session.client("sqs", endpoint_url=aws.endpoint, verify=str(files.bundle))
        url = trusting.create_queue(QueueName="q")["QueueUrl"]
        trusting.send_message(QueueUrl=url, MessageBody="over TLS")
        assert [message.body for message in peek(aws.endpoint, url, str(files.bundle))] == ["over TLS"]
        doubting = session.client("sqs", endpoint_url=aws.endpoint)
        with pytest.raises(SSLError):
            doubting.list_queues()
        trusting.close()
        doubting.close()
