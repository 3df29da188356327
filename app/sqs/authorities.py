"""Finds the certificate authorities (CAs) for verifying SQS's certificate, in the places where botocore looks.

boto3's documentation lists these places:
https://boto3.amazonaws.com/v1/documentation/api/latest/guide/configuration.html
botocore also reads the variable REQUESTS_CA_BUNDLE, but not the variables of OpenSSL, such as SSL_CERT_FILE.
"""

import os
import ssl

import botocore.session
from botocore.httpsession import create_urllib3_context, get_cert_path

from app.errors import ConfigurationError


def require_authorities(session: botocore.session.Session) -> None:
    """Raises ConfigurationError if the configured path of a CA bundle is empty, or leads to no valid certificates.

    If the path is empty, botocore before 1.43 verifies no certificates: https://github.com/boto/botocore/pull/3751.
    Compose files and Helm charts can easily set a variable to an empty value.
    """
    if (found := _configured(session)) is None:
        return
    name, bundle = found
    if not bundle.strip():
        raise ConfigurationError(f"{name} is empty: set a file with certificates, or unset it")
    try:
        ssl.create_default_context(cafile=bundle)
    except ssl.SSLError:
        reason = "the certificates are missing or invalid"
    except (OSError, ValueError) as error:  # ValueError: the path contains a null character
        reason = getattr(error, "strerror", None) or str(error)
    else:
        return
    raise ConfigurationError(f"{name}={' '.join(bundle.split())}: allowed is a file with certificates ({reason})")


def verifying_context(session: botocore.session.Session) -> ssl.SSLContext:
    """Returns a TLS context like botocore's, with the same CA bundle. It also checks the host name, as urllib3 does.

    Python 3.13's default context sets VERIFY_X509_STRICT, so it would reject certificates that botocore accepts.
    """
    context: ssl.SSLContext = create_urllib3_context()
    context.check_hostname = True
    found = _configured(session)
    context.load_verify_locations(found[1] if found else get_cert_path(True))
    return context


def _configured(session: botocore.session.Session) -> tuple[str, str] | None:
    """Returns the CA bundle's setting as (name, value), or None if botocore uses its default bundle."""
    bundle = session.get_config_variable("ca_bundle")
    if bundle is not None:
        return "AWS_CA_BUNDLE" if "AWS_CA_BUNDLE" in os.environ else "ca_bundle (in the profile)", str(bundle)
    bundle = os.environ.get("REQUESTS_CA_BUNDLE")
    return None if bundle is None else ("REQUESTS_CA_BUNDLE", bundle)
