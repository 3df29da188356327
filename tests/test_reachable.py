"""`app` has what its processes and commands import, and nothing else."""

import sys

import grimp
import pytest

from app.cli import COMMANDS
from app.settings import Release

OTHER_PRODUCTS = ("local", "lab", "loadtest")
# Imported by name: a command by `app.cli`, a release by `app.web.releases`.
BY_NAME = {
    *(f"app.cli.{command}" for command in COMMANDS),
    *(f"app.web.releases.{release.value}" for release in Release),
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """All imports, also those inside functions, but none that only a type checker sees."""
    return grimp.build_graph(
        *("app", "asgi_doctor", *OTHER_PRODUCTS), exclude_type_checking_imports=True, cache_dir=None
    )


def test_every_module_of_app_is_reachable(graph: grimp.ImportGraph) -> None:
    """`python -m app` reaches each module. A module that only tests or another product import belongs there."""
    reached = {"app.__main__", *BY_NAME}
    for root in list(reached):
        reached |= graph.find_upstream_modules(root)
    reached |= {module[:dot] for module in reached for dot, character in enumerate(module) if character == "."}
    assert {module for module in graph.modules if module.partition(".")[0] == "app"} <= reached


@pytest.mark.parametrize("package", ["app", "asgi_doctor"])
def test_what_is_deployed_imports_no_other_product(graph: grimp.ImportGraph, package: str) -> None:
    """Neither of the default image's packages needs what is not in the image."""
    imported = graph.find_upstream_modules(package, as_package=True)
    assert not {module for module in imported if module.partition(".")[0] in OTHER_PRODUCTS}


def test_the_doctor_needs_no_package() -> None:
    """The wheel has no dependencies: it imports the standard library, and what its user has."""
    graph = grimp.build_graph(
        "asgi_doctor", include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )
    packages = {module.partition(".")[0] for module in graph.modules}
    assert packages - sys.stdlib_module_names == {"asgi_doctor", "uvicorn", "anyio", "opentelemetry", "pytest"}
