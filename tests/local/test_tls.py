"""Tests that clients trust the stand-ins' certificates only with the bundle."""

import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import SSLError
from botocore.httpsession import DEFAULT_CA_BUNDLE

from local import embedded_aws
from local.peek import peek
from local.tls import certificates
from tests.harness.service import clean_environment

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


@pytest.mark.slow
def test_a_demo_over_tls() -> None:
    """With APP_LOCAL_TLS=1, the service and the audit find the bundle."""
    command = [sys.executable, "-m", "local", "demo", "--count", "20"]
    environment = clean_environment(local_tls=1)
    ended = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert ended.returncode == 0, ended.stderr
    assert "SQS at https://127.0.0.1:" in ended.stdout
    assert "20 got 200, 20 in the queue, 0 lost" in ended.stdout
