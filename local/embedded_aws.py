"""Runs the embedded AWS: the package `ministack`, which emulates SQS and DynamoDB in one process.

By default, the process listens on loopback only. `start()` runs the embedded AWS as a child process, which ends when
its parent ends. In a container, `python -m local.embedded_aws` runs the embedded AWS. uvicorn serves ministack's ASGI
app, because ministack's own server is slower.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from app.errors import ConfigurationError
from app.settings.text import http_url
from local import child, local_guard
from local.delay import LONGEST, Delayed
from local.local_guard import SameOriginGuard
from local.ports import listen
from local.tls import Certificates

REGION = "us-east-1"
# ministack reads its configuration from environment variables only. Without these variables, ministack would listen on
# 0.0.0.0, and also on port 8883 for MQTT.
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
    """A running embedded AWS. `ca_bundle` is the PEM file of the CAs that clients must trust, or None without TLS."""

    pid: int
    endpoint: str
    ca_bundle: Path | None = None

    def environment(self) -> dict[str, str]:
        """Returns environment variables that make an AWS SDK use this embedded AWS.

        The caller must unset all other AWS_ variables.
        """
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
        """Returns a boto3 client for `service`. The client ignores the user's AWS configuration and proxies."""
        import boto3  # this import takes a third of a second, and most commands do not need boto3
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
    """Runs an embedded AWS until the `with` block ends. The embedded AWS uses HTTPS if `tls` is given.

    `port` 0 picks a free port. `delay` is the latency in seconds added to each call. Raises ConfigurationError if the
    embedded AWS does not start.
    """
    arguments = [f"--port={port}", f"--delay={delay}"]
    arguments += [f"--certificate={tls.certificate}", f"--key={tls.key}"] if tls else []
    with child.start("local.embedded_aws", arguments, f"the embedded AWS did not start on port {port}") as started:
        yield EmbeddedAws(started.pid, started.ready["endpoint"], tls.bundle if tls else None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.embedded_aws",
        description="Emulates SQS and DynamoDB. All data are in memory.",
        allow_abbrev=False,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=4566, help="port to listen on; 0 picks a free port (default: %(default)s)"
    )
    parser.add_argument(
        "--delay", type=float, default=0.0, help="seconds of latency added to each call (default: %(default)s)"
    )
    parser.add_argument("--certificate", help="PEM file of the certificate; with --key, the server uses HTTPS")
    parser.add_argument("--key", help="PEM file of the certificate's private key")
    local_guard.add_option(parser)
    return parser


def main() -> None:
    """Serves the embedded AWS until a signal stops this process."""
    parser = _parser()
    options = parser.parse_args()
    if not 0 <= options.delay <= LONGEST:
        parser.error(f"--delay={options.delay}: allowed is 0 to {LONGEST:g}")
    if bool(options.certificate) != bool(options.key):
        parser.error("--certificate and --key: allowed are both or neither")
    try:
        listener = listen(options.host, options.port, "the embedded AWS")
    except ConfigurationError as error:
        sys.exit(f"error: {error}")
    port = listener.getsockname()[1]
    os.environ.update(_CONFIGURATION, GATEWAY_PORT=str(port))
    try:
        import uvicorn
        from ministack.app import app
    except ImportError:
        sys.exit("the embedded AWS needs the dependency group `local`: run `make .venv/local`")
    # Clients can already connect: the socket listens, and the system queues connections until uvicorn runs.
    plain = http_url(options.host, port)
    endpoint = plain.replace("http", "https", 1) if options.certificate else plain
    print(json.dumps({"endpoint": endpoint}), flush=True)
    config = uvicorn.Config(
        SameOriginGuard(Delayed(app, options.delay), [*options.hosts, options.host]),
        log_level="error",
        access_log=False,
        # An hour is longer than any client keeps an idle connection. With a shorter time, the server could close a
        # connection just when a client sends a call.
        timeout_keep_alive=3600,
        ws="none",
        interface="asgi3",
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
