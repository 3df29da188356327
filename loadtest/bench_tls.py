"""What loading a CA bundle costs, which botocore does for every new connection: milliseconds of CPU, for each bundle.

python -m loadtest.bench_tls [--repeats N]
"""

import argparse
import ssl
import statistics
import time
from pathlib import Path

from loadtest.stage.stack import BUNDLES
from local.tls import certificates


def load_ms(bundle: Path) -> float:
    """One context with the bundle, as urllib3 makes it."""
    began = time.process_time()
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=bundle)
    return 1000 * (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=21, help="loads of each bundle (default 21)")
    options = parser.parse_args()
    print(ssl.OPENSSL_VERSION)
    for name, share in BUNDLES.items():
        with certificates(share) as files:
            times = [load_ms(files.bundle) for _ in range(options.repeats)]
            number = files.bundle.read_text().count("BEGIN CERTIFICATE")
        print(f"{statistics.median(times):6.1f} ms  ({min(times):.1f} to {max(times):.1f})  {name}, {number} CAs")


if __name__ == "__main__":
    main()
