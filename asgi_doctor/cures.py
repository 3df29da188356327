"""Chooses the advice for a finding."""

import re

from asgi_doctor import advice
from asgi_doctor.finding import Cure, Kind
from asgi_doctor.stacks import Stack

_EXECUTOR = ("concurrent/futures/thread.py", "asyncio/threads.py")
# In these files, a thread waits until another thread returns a connection to the pool.
_AWAITS_CONNECTION = re.compile(r"/sqlalchemy/pool/impl\.py$|/(psycopg_pool|psycopg2/pool|redis/connection)\b")
_SLEEPS = re.compile(r"\bsleep\(")
_SERIALISES = re.compile(
    r"/(fastapi/(routing|encoders|_compat)|pydantic/|starlette/responses|litestar/(serialization|response|dto)"
    r"|jinja2/|markupsafe/)"
)
# In these files, SQLAlchemy makes objects from rows: SQLAlchemy computes, not the database.
_LOADS_ROWS = re.compile(r"/sqlalchemy/orm/(loading|instrumentation|state)\.py$")
# In these files, the framework reads or validates the body of a request.
_READS = re.compile(r"/(starlette/(requests|formparsers)|fastapi/dependencies/utils)\.py$")
_VALIDATES = re.compile(r"model_validate|validate_(json|python|strings)\(")
_MATCHES = re.compile(r"\bre\.\w+\(|\.(match|search|fullmatch|findall|finditer|sub|split)\(")
_JSON = re.compile(r"\bjson\.(loads|dumps|load|dump)\(|\.json\(\)|model_validate|model_dump|TypeAdapter|validate_")
# C code that releases the interpreter lock while it computes.
_RELEASES = re.compile(
    r"pbkdf2_hmac|scrypt|bcrypt|argon2|hashlib|\bhmac\.|(sha\d+|sha3_\d+|md5|blake2[bs])\(|zlib|gzip|bz2|lzma"
    r"|\.(de)?compress\(|hash_password"
)
# Files that call C code of this kind, for example passlib/handlers/bcrypt.py and pwdlib/hashers/argon2.py.
_RELEASING_FILES = re.compile(r"/(hashlib|hmac|gzip|bz2|lzma)\.py$|/(bcrypt|argon2|zipfile)(/|\.py$)")
# Database calls. Only SQLite and DuckDB compute in this process. They release the interpreter lock meanwhile.
_QUERIES = re.compile(r"\.(execute(many|script)?|fetch(one|many|all))\(")


def cure(kind: Kind, cause: Kind, source: str, inner: Stack, *, handles: bool) -> Cure:
    """Returns the advice for a finding of this kind.

    `cause`: what the line does, for example COMPUTES. `kind` is `cause`, or MANY_SHORT or STARTUP. `source`: the
    user's line. `inner`: the calls that the line makes. `handles`: the line is the `def` of an endpoint, and stands for
    the work of the framework before and after the endpoint.
    """
    if kind is Kind.STARTUP:
        return advice.STARTUP_WAITS if cause is Kind.WAITS else advice.STARTUP_COMPUTES
    if cause is Kind.COLLECTS:
        return advice.GARBAGE
    innermost = inner[-1].source if inner else source
    files = [location.file.replace("\\", "/") for location in inner]
    if cause is Kind.STARVES:
        return advice.RELEASING if _releases(files, innermost) else _starved(inner)
    if cause is Kind.BUILDS:
        return _built(files, source)
    if cause is Kind.WAITS:
        return _waited(files, source, handles=handles)
    return _computed(files, source, innermost, handles=handles)


def _starved(inner: Stack) -> Cure:
    if any(_AWAITS_CONNECTION.search(one.file) and "get" in one.function for one in inner):
        return advice.CONNECTIONS
    return advice.EXECUTOR if any(one.file.endswith(_EXECUTOR) for one in inner) else advice.TOKENS


def _built(files: list[str], source: str) -> Cure:
    if re.search(r"\b(httpx|requests)\.(get|post|put|patch|delete|head|request)\(", source):
        return advice.HTTP
    if any(file.endswith("/fastapi/dependencies/utils.py") for file in files):
        return advice.ROUTES
    return advice.IMPORT if any(file.startswith("<frozen importlib") for file in files) else advice.BUILD


def _waited(files: list[str], source: str, *, handles: bool) -> Cure:
    if _SLEEPS.search(source):
        return advice.SLEEP
    for pattern, found in advice.WAITING_CALLS:
        if any(re.search(pattern, text) for text in (source, *files)):
            return found
    return advice.ENDPOINT if handles else advice.WAIT


def _computed(files: list[str], source: str, innermost: str, *, handles: bool) -> Cure:
    """Returns advice for a line that computes. `innermost`: the innermost call's code, or `source` if none."""
    if any(_LOADS_ROWS.search(file) for file in files):
        return advice.ROWS
    if handles or (any(_SERIALISES.search(file) for file in files) and not _VALIDATES.search(source)):
        return advice.REQUEST if handles and any(_READS.search(file) for file in files) else advice.RESPONSE
    return advice.SQLITE if _QUERIES.search(innermost) else _called(files, source, innermost)


def _called(files: list[str], source: str, innermost: str) -> Cure:
    if _releases(files, innermost):
        return advice.RELEASING
    if _JSON.search(source) or any("/json/" in file for file in files):
        return advice.JSON
    if _MATCHES.search(source) or any(file.endswith(("/re.py", "/re/__init__.py")) for file in files):
        return advice.REGULAR_EXPRESSION
    return advice.COMPUTE


def _releases(files: list[str], innermost: str) -> bool:
    return any(_RELEASING_FILES.search(file) for file in files) or bool(_RELEASES.search(innermost))
