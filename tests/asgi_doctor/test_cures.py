"""The advice for a finding, chosen from the line and the calls that it makes."""

from functools import partial
from pathlib import Path

import pytest

from asgi_doctor.advice import (
    COMPUTE,
    CONNECTIONS,
    JSON,
    REGULAR_EXPRESSION,
    RELEASING,
    REQUEST,
    RESPONSE,
    ROUTES,
    ROWS,
    SQLITE,
    TOKENS,
    WAIT,
)
from asgi_doctor.block import Sample
from asgi_doctor.builders import builds
from asgi_doctor.cures import cure
from asgi_doctor.finding import Cure, Kind
from asgi_doctor.parts import Part
from asgi_doctor.request import Request
from asgi_doctor.stacks import Location
from asgi_doctor.tally import Tally


@pytest.mark.parametrize(
    ("source", "file", "advice"),
    [
        ("return pwd_context.hash(password)", "passlib/handlers/bcrypt.py", RELEASING),
        ("return password_hash.verify(password, known)", "argon2/_password_hasher.py", RELEASING),
        ("result = await session.execute(query)", "sqlalchemy/orm/loading.py", ROWS),
        ("return templates.TemplateResponse(request, name)", "jinja2/environment.py", RESPONSE),
        ("return Row.model_validate_json(body)", "pydantic/main.py", JSON),
        ("archive.writestr(name, data)", "zipfile.py", RELEASING),
        ("return hashlib.sha256(json.dumps(rows).encode()).digest()", "json/encoder.py", JSON),
        ("return price(orders)", "numpy/core.py", COMPUTE),
    ],
)
def test_a_library_that_computes(source: str, file: str, advice: Cure) -> None:
    """Hash functions release the interpreter lock, so a thread helps. Objects of a session cannot leave its process."""
    inner = (Location(f"/venv/lib/python3/site-packages/{file}", 1, "function"),)
    assert cure(Kind.COMPUTES, Kind.COMPUTES, source, inner, handles=False) == advice


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("rows = connection.execute(query).fetchall()", SQLITE),
        ("connection.executemany(statement, rows)", SQLITE),
        ("digest = sha3_256(body)", RELEASING),
        ("return hmac.digest(key, body, 'sha256')", RELEASING),
        ("text = decompressor.decompress(body)", RELEASING),
        ("return re.match(pattern, text)", REGULAR_EXPRESSION),
        ("return base64.b64encode(body)", COMPUTE),
        ("return sum(range(number))", COMPUTE),
    ],
)
def test_code_without_frames(source: str, advice: Cure) -> None:
    """C code has no frames, so only the user's line shows whether the code releases the interpreter lock."""
    assert cure(Kind.COMPUTES, Kind.COMPUTES, source, (), handles=False) == advice


def test_a_query_in_a_library(tmp_path: Path) -> None:
    """If a line of a library, such as SQLAlchemy, calls SQLite, then SQLite computes, not the library."""
    (tmp_path / "default.py").write_text(
        "def do_execute(cursor, statement):\n    cursor.execute(statement)\n", encoding="utf-8"
    )
    called = [Location(str(tmp_path / "default.py"), line, "do_execute") for line in (1, 2)]
    cures = [cure(Kind.COMPUTES, Kind.COMPUTES, "session.scalar(query)", (one,), handles=False) for one in called]
    assert cures == [COMPUTE, SQLITE]


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("return hashlib.pbkdf2_hmac(digest().name, password, salt, iterations)", RELEASING),
        ("return _scrypt(secret, salt, n, r, p, keylen)", RELEASING),
        ("return hash(secret).digest() + salt", COMPUTE),
    ],
)
def test_the_innermost_line_decides(tmp_path: Path, line: str, advice: Cure) -> None:
    """A hash that a library calls releases the interpreter lock, but a library's loop does not, for any user's line."""
    (tmp_path / "library.py").write_text(line, encoding="utf-8")
    inner = (Location(str(tmp_path / "library.py"), 1, "hashed"),)
    assert cure(Kind.COMPUTES, Kind.COMPUTES, "user.set_password(hashlib.md5(word))", inner, handles=False) == advice


@pytest.mark.parametrize(
    ("file", "function", "advice"),
    [
        ("sqlalchemy/pool/impl.py", "QueuePool._do_get", CONNECTIONS),
        ("psycopg_pool/pool.py", "ConnectionPool.getconn", CONNECTIONS),
        ("sqlalchemy/engine/base.py", "Connection.execute", TOKENS),
    ],
)
def test_threads_that_wait_for_a_connection(file: str, function: str, advice: Cure) -> None:
    """More threads do not help if the threads wait for a connection."""
    inner = (Location(f"/venv/lib/python3/site-packages/{file}", 1, function),)
    assert cure(Kind.STARVES, Kind.STARVES, "session.execute(query)", inner, handles=False) == advice


@pytest.mark.parametrize(
    ("cause", "source", "advice"),
    [
        (Kind.STARVES, "return scrypt(password, salt=salt)", RELEASING),
        (Kind.STARVES, "return sum(range(number))", TOKENS),
        (Kind.COMPUTES, "return sum(range(number))", COMPUTE),
    ],
)
def test_threads_that_compute(cause: Kind, source: str, advice: Cure) -> None:
    """On a busy machine, threads that hash get too little CPU to count as computing, but their line shows the hash."""
    assert cure(cause, cause, source, (), handles=False) == advice


@pytest.mark.parametrize("line", [7, 8])
def test_an_endpoint_on_one_line(line: int) -> None:
    """`async def pay(): fetch()` gets the same cure on one line as on two lines."""
    defined = partial(test_an_endpoint_on_one_line, line)
    request = Request({"path": "/", "endpoint": defined}, None)
    assert request.endpoint is not None
    location = request.endpoint._replace(line=request.endpoint.line + line - 7)
    stack = (Location("/venv/lib/python3/site-packages/fastapi/routing.py", 1, "app"), location)
    tally = Tally(Part(location, [Sample(stack, 0.1, 0.0, 0.0)], 0.1, 0.0, 0.0), request, short=False)
    assert tally.finding().cure == WAIT


@pytest.mark.parametrize(("file", "advice"), [("starlette/requests.py", REQUEST), ("fastapi/routing.py", RESPONSE)])
def test_a_framework_that_computes(file: str, advice: Cure) -> None:
    """The advice for an endpoint is about its request or its response, depending on the framework's work."""
    inner = (Location(f"/venv/lib/python3/site-packages/{file}", 1, "function"),)
    source = "async def load(rows: list[Row]):"
    assert cure(Kind.COMPUTES, Kind.COMPUTES, source, inner, handles=True) == advice


def test_routes_that_are_built_at_the_first_request() -> None:
    """FastAPI builds the routes of an included router in its first request, so the endpoint is not to blame."""
    inner = (Location("/venv/lib/python3/site-packages/fastapi/dependencies/utils.py", 296, "get_dependant"),)
    assert builds(inner, "async def pay(order: Order):")
    assert cure(Kind.BUILDS, Kind.BUILDS, "async def pay(order: Order):", inner, handles=True) == ROUTES
