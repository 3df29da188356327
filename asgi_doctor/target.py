"""Imports the ASGI app that `module:attribute` names, as uvicorn does."""

import inspect
import sys
import traceback
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from asgi_doctor.errors import DoctorError
from asgi_doctor.middleware import is_asgi_2
from asgi_doctor.stacks import Location, claim_package


def load(target: str, *, factory: bool = False) -> Any:
    """Imports the app and returns it. With `factory`, `target` names a function that returns the app.

    Adds the current directory to the import path. Raises DoctorError if a step fails or the app is not an ASGI app.
    """
    name, _, attribute = target.partition(":")
    if not name or not attribute:
        raise DoctorError(f"{target}: allowed is module:attribute, as in shop.main:app")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    found = _import(name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise DoctorError(f"{target}: {name} has no attribute {attribute}")
        found = getattr(found, part)
    if factory:
        found = _call(target, found)
    if not _is_asgi(found):
        raise DoctorError(f"{target}: {_described(found)} is not an ASGI app (async, with scope, receive and send)")
    return found


def _import(name: str) -> object:
    package = name.partition(".")[0]
    loaded = sys.modules.get(package)
    claim_package(name)  # before the import, so that a slow import is reported with its line
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:
        hint = ""
        if isinstance(error, ModuleNotFoundError) and loaded is not None:
            hint = f"; the package {package} is this command's own: rename yours, or use asgi-doctor"
        raise DoctorError(f"{name} cannot be imported: {_described_error(error)}{hint}") from None


def _call(target: str, factory: Any) -> Any:
    if not callable(factory):
        raise DoctorError(f"{target}: {_described(factory)} is not a factory")
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise DoctorError(f"{target}: the factory fails: {_described_error(error)}") from None


def _described_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}{_where(error)}"


def _where(error: BaseException) -> str:
    """Returns the innermost line of the user's code in the traceback, in brackets, or "" if there is none."""
    locations = [
        Location(frame.filename, frame.lineno or 0, frame.name) for frame in traceback.extract_tb(error.__traceback__)
    ]
    theirs = [location for location in locations if location.in_app]
    return f" ({theirs[-1]})" if theirs else ""


def _is_asgi(found: object) -> bool:
    """Returns whether `found` is an ASGI 3 app. Unlike uvicorn, accepts a partial and a bound method, too."""
    while isinstance(found, partial):
        found = found.func
    if inspect.isclass(found):
        return hasattr(found, "__await__")
    return inspect.iscoroutinefunction(found) or inspect.iscoroutinefunction(getattr(found, "__call__", None))  # noqa: B004  # the method itself is needed, not whether it exists


def _described(found: object) -> str:
    if is_asgi_2(found):
        return "an application of ASGI 2 (asgiref.compatibility.guarantee_single_callable makes it one of ASGI 3)"
    if inspect.isroutine(found):
        return "a function that is not async (a factory? then add --factory)"
    return f"an object of type {type(found).__name__}"
