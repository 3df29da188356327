"""Creates certificates for the embedded AWS, so that a local run can measure how much CPU time HTTPS to SQS costs.

Loading the CA bundle is a large part of the cost. botocore makes urllib3 load the whole bundle for every new connection
(https://github.com/urllib3/urllib3/issues/3623, https://github.com/boto/botocore/issues/3171). With OpenSSL 3, loading
takes five times as long as with earlier versions (https://github.com/openssl/openssl/issues/16871).
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from app.errors import ConfigurationError

_END = "-----END CERTIFICATE-----\n"


class Certificates(NamedTuple):
    """PEM files. `bundle`, for AWS_CA_BUNDLE, contains botocore's own CAs and the CA that has signed `certificate`."""

    certificate: Path
    key: Path
    ca: Path
    bundle: Path


@contextmanager
def certificates(share: float = 1.0) -> Iterator[Certificates]:
    """Creates a CA and a certificate for 127.0.0.1 and localhost. The files exist until the `with` block ends.

    `share` is the fraction of botocore's CAs that the bundle contains, from 0 to 1. Raises ConfigurationError if the
    package `trustme` is not installed.
    """
    try:
        import trustme  # the container image does not contain this package
    except ImportError:
        raise ConfigurationError(
            "HTTPS for the embedded AWS needs the dependency group `local`: run `make .venv/local`"
        ) from None
    ca = trustme.CA()
    issued = ca.issue_cert("127.0.0.1", "localhost")
    with tempfile.TemporaryDirectory() as folder:
        files = Certificates(*(Path(folder) / f"{name}.pem" for name in Certificates._fields))
        issued.cert_chain_pems[0].write_to_path(str(files.certificate))
        issued.private_key_pem.write_to_path(str(files.key))
        ca.cert_pem.write_to_path(str(files.ca))
        files.bundle.write_text("".join(_botocores(share)) + ca.cert_pem.bytes().decode(), encoding="utf-8")
        yield files


def _botocores(share: float) -> list[str]:
    """Returns the first CAs of botocore's own bundle. `share` is the fraction to return, from 0 to 1."""
    from botocore.httpsession import DEFAULT_CA_BUNDLE  # this import takes half a second

    found = Path(DEFAULT_CA_BUNDLE).read_text(encoding="utf-8").split(_END)[:-1]
    return [certificate + _END for certificate in found[: round(share * len(found))]]
