"""Certificates for the stand-ins of AWS: real SQS is HTTPS, and much of what that costs is the client's CA bundle.

botocore has urllib3 load the whole bundle for every new connection (https://github.com/urllib3/urllib3/issues/3623,
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
    """Files of PEM. `bundle` is for AWS_CA_BUNDLE: botocore's own CAs, and the one that has signed `certificate`."""

    certificate: Path
    key: Path
    ca: Path
    bundle: Path


@contextmanager
def certificates(share: float = 1.0) -> Iterator[Certificates]:
    """A certificate for 127.0.0.1 and localhost, and its CA, both new. `share`: of botocore's CAs in the bundle.

    Raises ConfigurationError where trustme is not installed.
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
    """The first `share` of the CAs that botocore brings along."""
    from botocore.httpsession import DEFAULT_CA_BUNDLE  # half a second, which a run without TLS saves

    found = Path(DEFAULT_CA_BUNDLE).read_text().split(_END)[:-1]
    return [certificate + _END for certificate in found[: round(share * len(found))]]
