"""Recognises code that builds something expensive: a client, a TLS context, an import."""

import re
from functools import lru_cache

from asgi_doctor.stacks import Location, Stack

# Slow constructors in libraries, by the end of their qualified names. They load API models, CA bundles or drivers.
_FUNCTIONS = re.compile(
    r"(Client|Session|Engine|Pool|PoolManager|ConnectionPool|Connector|Environment|SSLContext)\.__init__$"
    r"|(^|\.)(create_client|create_engine|create_async_engine|create_default_context|create_urllib3_context"
    r"|create_ssl_context|load_default_certs|load_verify_locations|load_service_model|_load_ssl_context)$"
    r"|^Session\.(client|resource)$"
    r"|^get_dependant$|^create_model$"  # FastAPI, pydantic
)
# Slow constructors in C, which have no frames, so they are recognised in the source code of the user's line.
_CALLS = re.compile(
    r"\b(SSLContext|create_default_context|load_verify_locations|set_default_verify_paths|load_default_certs)\("
)


def builds(inner: Stack, source: str) -> bool:
    """Returns whether `inner`, which the user's line `source` has called, builds something."""
    return any(_is_builder(location) for location in inner) or bool(_CALLS.search(source))


def imports(inner: Stack) -> bool:
    """Returns whether the user's line is importing a module that is not the user's."""
    return any(location.file.startswith("<frozen importlib") for location in inner)


@lru_cache(maxsize=4096)
def _is_builder(location: Location) -> bool:
    if location.in_app:
        return False
    return location.file.startswith("<frozen importlib") or bool(_FUNCTIONS.search(location.function))
