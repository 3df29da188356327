"""The embedded AWS as a child process: SQS and DynamoDB on a loopback port; it exits with its parent.

`start()` runs it as a child process; `python -m local.embedded_aws` runs it in a container: ministack's ASGI app under
uvicorn, which is faster than ministack's own server.
"""

import argparse
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from local import child, guard
from local.delay import Delayed
from local.guard import SameOriginGuard
from local.tls import Certificates

REGION = "us-east-1"
# ministack is configured by environment variables only; by default it listens on 0.0.0.0 (8883 for MQTT too).
_CONFIGURATION = {
    "BIND_HOST": "127.0.0.1",
    "MINISTACK_HOST": "127.0.0.1",
    "MINISTACK_REGION": REGION,
    "IOT_MTLS_ENABLED": "0",
    "SFTP_ENABLED": "0",
    "SERVICES": "sqs,dynamodb",
    "LOG_LEVEL": "ERROR",
}


class EmbeddedAws(NamedTuple):
    """A running embedded AWS. `ca_bundle`: the file that its clients trust, if it speaks TLS."""

    pid: int
    endpoint: str
    ca_bundle: Path | None = None

    def environment(self) -> dict[str, str]:
        """Variables with which an AWS SDK uses this endpoint only; the user's other AWS_ ones must be unset."""
        no_proxy = ",".join(filter(None, (os.environ.get("NO_PROXY"), "127.0.0.1,localhost")))
        return {
            "NO_PROXY": no_proxy,
            "no_proxy": no_proxy,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            **({"AWS_CA_BUNDLE": str(self.ca_bundle)} if self.ca_bundle else {}),
        }

    def client(self, service: str) -> Any:
        """Returns boto3's client of `service`, without the user's AWS configuration and proxies."""
        import boto3  # a third of a second, which other commands save
        import botocore.session
        from botocore.config import Config

        unset: Any = {
            "profile": (None, None, None, None),
            "config_file": (None, None, os.devnull, None),
            "credentials_file": (None, None, os.devnull, None),
        }
        sdk: Any = boto3.Session("local", "local", region_name=REGION, botocore_session=botocore.session.Session(unset))
        return sdk.client(
            service,
            endpoint_url=self.endpoint,
            verify=str(self.ca_bundle) if self.ca_bundle else None,
            config=Config(proxies={}),
        )


@contextmanager
def start(port: int = 0, delay: float = 0, tls: Certificates | None = None) -> Iterator[EmbeddedAws]:
    """Runs an embedded AWS inside the context; `port` 0 picks a free one, `delay` is added to each call, in seconds.

    With `tls` it speaks HTTPS.
    Raises ConfigurationError where it does not start.
    """
    arguments = [f"--port={port}", f"--delay={delay}"]
    arguments += [f"--certificate={tls.certificate}", f"--key={tls.key}"] if tls else []
    with child.start("local.embedded_aws", arguments, f"the embedded AWS did not start on port {port}") as started:
        yield EmbeddedAws(started.pid, started.ready["endpoint"], tls.bundle if tls else None)


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen()
    return listener


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.embedded_aws", description="SQS and DynamoDB in memory.", allow_abbrev=False
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=4566, help="0 picks a free one (default: %(default)s)")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds added to each call (default: %(default)s)")
    parser.add_argument("--certificate", help="a file; with --key, it speaks HTTPS")
    parser.add_argument("--key", help="a file")
    guard.add_option(parser)
    return parser


def main() -> None:
    """The child."""
    options = _parser().parse_args()
    listener = _listen(options.host, options.port)
    port = listener.getsockname()[1]
    os.environ.update(_CONFIGURATION, GATEWAY_PORT=str(port))
    try:
        import uvicorn
        from ministack.app import app
    except ImportError:
        sys.exit("the embedded AWS needs the group `local`: make .venv")
    # The socket listens already, so the address may be printed before the server accepts.
    print(json.dumps({"endpoint": f"{'https' if options.certificate else 'http'}://{options.host}:{port}"}), flush=True)
    config = uvicorn.Config(
        SameOriginGuard(Delayed(app, options.delay), [*options.hosts, options.host]),
        log_level="error",
        access_log=False,
        # Longer than a client is idle: otherwise a call may meet the close.
        timeout_keep_alive=3600,
        ws="none",
        interface="asgi3",
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
