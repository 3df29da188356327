"""Recognises expensive work that a process should do once: creating a client or TLS context, or importing a module."""

import re
from functools import lru_cache

from asgi_doctor.stacks import Location, Stack

# Qualified names of library functions that are slow, for example because they load API models, CA bundles or drivers.
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
    """Returns whether the user's line builds something expensive. `inner`: the line's calls. `source`: its code."""
    return any(_is_builder(location) for location in inner) or bool(_CALLS.search(source))


def imports(inner: Stack) -> bool:
    """Returns whether the user's line is importing a library. `inner`: the line's calls."""
    return any(location.file.startswith("<frozen importlib") for location in inner)


@lru_cache(maxsize=4096)
def _is_builder(location: Location) -> bool:
    if location.in_app:
        return False
    return location.file.startswith("<frozen importlib") or bool(_FUNCTIONS.search(location.function))
