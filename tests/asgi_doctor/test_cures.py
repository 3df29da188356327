"""The advice for a finding, chosen from the line and the calls that it makes."""

import pytest

from asgi_doctor.advice import COMPUTE, JSON, RELEASING, REQUEST, RESPONSE, ROUTES, ROWS
from asgi_doctor.builders import builds
from asgi_doctor.cures import cure
from asgi_doctor.finding import Cure, Kind
from asgi_doctor.stacks import Location


@pytest.mark.parametrize(
    ("source", "file", "advice"),
    [
        ("return pwd_context.hash(password)", "passlib/handlers/bcrypt.py", RELEASING),
        ("return password_hash.verify(password, known)", "argon2/_password_hasher.py", RELEASING),
        ("result = await session.execute(query)", "sqlalchemy/orm/loading.py", ROWS),
        ("return templates.TemplateResponse(request, name)", "jinja2/environment.py", RESPONSE),
        ("return Row.model_validate_json(body)", "pydantic/main.py", JSON),
        ("return price(orders)", "numpy/core.py", COMPUTE),
    ],
)
def test_a_library_that_computes(source: str, file: str, advice: Cure) -> None:
    """Hash functions release the interpreter lock, so a thread helps. Objects of a session cannot leave its process."""
    inner = (Location(f"/venv/lib/python3/site-packages/{file}", 1, "function"),)
    assert cure(Kind.COMPUTES, Kind.COMPUTES, source, inner, handles=False) == advice


@pytest.mark.parametrize(("file", "advice"), [("starlette/requests.py", REQUEST), ("fastapi/routing.py", RESPONSE)])
def test_a_framework_that_computes(file: str, advice: Cure) -> None:
    """The endpoint is blamed for its request, which the framework reads, or for its response."""
    inner = (Location(f"/venv/lib/python3/site-packages/{file}", 1, "function"),)
    source = "async def load(rows: list[Row]):"
    assert cure(Kind.COMPUTES, Kind.COMPUTES, source, inner, handles=True) == advice


def test_routes_that_are_built_at_the_first_request() -> None:
    """FastAPI builds the routes of an included router in its first request, so the endpoint is not to blame."""
    inner = (Location("/venv/lib/python3/site-packages/fastapi/dependencies/utils.py", 296, "get_dependant"),)
    assert builds(inner, "async def pay(order: Order):")
    assert cure(Kind.BUILDS, Kind.BUILDS, "async def pay(order: Order):", inner, handles=True) == ROUTES
