"""Measures the CPU time of loading each CA bundle that attacks use. botocore loads its bundle for each connection."""

import ssl
import statistics
import time
from pathlib import Path

import click

from loadtest.stage.stack import BUNDLES
from local.tls import certificates


def load_ms(bundle: Path) -> float:
    """Returns the CPU time, in ms, of making a TLS context with the CAs of `bundle`, as urllib3 does."""
    began = time.process_time()
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=bundle)
    return 1000 * (time.process_time() - began)


@click.command(help=__doc__)
@click.option("--repeats", type=click.IntRange(1), default=21, show_default=True)
def main(repeats: int) -> None:
    print(ssl.OPENSSL_VERSION)
    for name, share in BUNDLES.items():
        with certificates(share) as files:
            times = [load_ms(files.bundle) for _ in range(repeats)]
            number = files.bundle.read_text(encoding="utf-8").count("BEGIN CERTIFICATE")
        print(f"{statistics.median(times):6.1f} ms  ({min(times):.1f} to {max(times):.1f})  {name}, {number} CAs")
