"""Certificates for the stand-ins of AWS. Real SQS uses HTTPS, and loading the CA bundle is much of what HTTPS costs.

botocore lets urllib3 load the whole bundle for every new connection (https://github.com/urllib3/urllib3/issues/3623,
https://github.com/boto/botocore/issues/3171), which OpenSSL 3 made five times slower
(https://github.com/openssl/openssl/issues/16871).
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from app.errors import ConfigurationError

_END = "-----END CERTIFICATE-----\n"


class Certificates(NamedTuple):
    """PEM files. `bundle` is for AWS_CA_BUNDLE: botocore's own CAs, and the CA that has signed `certificate`."""

    certificate: Path
    key: Path
    ca: Path
    bundle: Path


@contextmanager
def certificates(share: float = 1.0) -> Iterator[Certificates]:
    """Creates a CA and a certificate for 127.0.0.1 and localhost; the files exist inside the context.

    `share`: the part of botocore's CAs that the bundle contains. Raises ConfigurationError if trustme is not installed.
    """
    try:
        import trustme  # not in the image
    except ImportError:
        raise ConfigurationError("TLS for the stand-ins of AWS needs the group `local`: make .venv") from None
    ca = trustme.CA()
    issued = ca.issue_cert("127.0.0.1", "localhost")
    with tempfile.TemporaryDirectory() as folder:
        files = Certificates(*(Path(folder) / f"{name}.pem" for name in Certificates._fields))
        issued.cert_chain_pems[0].write_to_path(str(files.certificate))
        issued.private_key_pem.write_to_path(str(files.key))
        ca.cert_pem.write_to_path(str(files.ca))
        files.bundle.write_text("".join(_botocores(share)) + ca.cert_pem.bytes().decode())
        yield files


def _botocores(share: float) -> list[str]:
    """Returns the first `share` of botocore's own CAs."""
    from botocore.httpsession import DEFAULT_CA_BUNDLE  # takes half a second, so only a run with TLS imports it

    found = Path(DEFAULT_CA_BUNDLE).read_text().split(_END)[:-1]
    return [certificate + _END for certificate in found[: round(share * len(found))]]
