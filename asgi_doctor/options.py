"""The options of the command, from the command line and from `[tool.asgi-doctor]` in pyproject.toml."""

import argparse
import math
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from asgi_doctor.configuration import Configuration
from asgi_doctor.load import AT_ONCE, Request
from asgi_doctor.outputs import installed_version
from asgi_doctor.watchdog import LEAST, MOST

_SEND = "like 'GET /pay': send it twice alone and fifty times at once, then stop, unless --for says when; repeatable"
_HEADER = "of the --send before, like 'Authorization: Bearer {token}': the token of an earlier answer, a JSON object"
_BODY = "of the --send before: JSON, or a form, or @FILE with one of them"
_FOR = "stop after so many seconds of serving; fail if the start takes longer than that, and than 30 seconds"
_AT_ONCE = "instead of fifty requests at once"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_ATTACHED_SECONDS = 10.0


def parse(arguments: Sequence[str], prog: str, configuration: Configuration) -> argparse.Namespace:
    """Returns the options. An option on the command line overrides the same option in pyproject.toml.

    If the command line has --send, all requests in pyproject.toml are ignored. `prog`: the command's name in messages.
    Raises SystemExit after --help and --version (0), or if an option is wrong (2).
    """
    attach = arguments[:1] == ["attach"]
    made = _attach if attach else _serve
    configured = made(f"{prog}: pyproject.toml, [tool.asgi-doctor]", f"see {prog} --help")
    # `attach` ignores the options in pyproject.toml that are only for serving.
    known, others = configured.parse_known_args(["0" if attach else "", *configuration.arguments])
    if others and not attach:
        configured.error(f"unrecognized options: {' '.join(others)}")
    requests = vars(known).pop("send", [])
    options = made(prog).parse_args(arguments[1:] if attach else arguments, known)
    options.send = getattr(options, "send", None) or requests
    return options


def _serve(prog: str, usage: str | None = None) -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog=prog,
        usage=usage,
        description="Serve an ASGI application with uvicorn, and name the lines that block its event loop while you "
        "send requests to it. Ctrl-C stops the doctor and prints a summary.",
        epilog=f"`{prog} attach PID` watches a process that runs already, with Python 3.14 or newer.",
    )
    add = found.add_argument
    add("target", metavar="MODULE:APP", help="imported from the current directory, as uvicorn does")
    add("--version", action="version", version=f"asgi-doctor {installed_version()}")
    add("--factory", action="store_true", help="APP is a function that returns the application")
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, help="port to listen on; 0 takes a free one (default: 8000, or a free one with --send)")
    add("--loop", choices=("auto", "asyncio", "uvloop"), default="auto", help="auto: uvloop if it is installed")
    add("--for", type=partial(_between, 0.001, math.inf), dest="seconds", metavar="SECONDS", help=_FOR)
    add("--no-page", dest="page", action="store_false", help="do not serve the page that lists the findings")
    add("--send", type=_request, action=_Send, default=[], metavar="REQUEST", help=_SEND)
    add("--at-once", type=lambda text: int(_between(1, 1000, text)), default=AT_ONCE, metavar="N", help=_AT_ONCE)
    add("--header", type=_header, action=_Send, default=argparse.SUPPRESS, help=_HEADER)
    add("--body", type=_body, action=_Send, default=argparse.SUPPRESS, help=_BODY)
    return _with_outputs(found)


def _attach(prog: str, usage: str | None = None) -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog=f"{prog} attach",
        usage=usage,
        description="Watch the event loops of a running process for a while, and leave nothing behind in the process. "
        "It needs the same version of Python, 3.14 or newer, and the rights of a debugger.",
    )
    add = found.add_argument
    add("pid", type=int, metavar="PID", help="the process; of several workers, one")
    watched, text = partial(_between, 0.1, 3600), "watch for so long (default: %(default)g)"
    add("--for", type=watched, default=_ATTACHED_SECONDS, dest="seconds", metavar="SECONDS", help=text)
    return _with_outputs(found)


def _with_outputs(found: argparse.ArgumentParser) -> argparse.ArgumentParser:
    add = found.add_argument
    warn = partial(_between, LEAST, MOST)
    add("--warn", type=warn, default=0.1, metavar="SECONDS", help="report longer blocks (default: %(default)s)")
    add("--check", action="store_true", help="exit with 1 for any finding that is neither allowed nor in the baseline")
    add("--baseline", type=Path, metavar="FILE", help="known findings, which do not fail the check")
    add("--write-baseline", type=Path, metavar="FILE", help="write all findings as a baseline")
    add("--junit", type=Path, metavar="FILE", help="write the new findings as JUnit's XML")
    add("--sarif", type=Path, metavar="FILE", help="write the new findings as SARIF, for code scanning")
    add("--github", action="store_true", help="print the new findings as annotations of GitHub Actions")
    add("--json", type=Path, metavar="FILE", help="write all findings as JSON")
    return found


class _Send(argparse.Action):
    """Collects the requests of --send. A --header or --body belongs to the --send before it."""

    def __call__(self, parser: argparse.ArgumentParser, options: Any, value: Any, option: str | None = None) -> None:
        if not isinstance(value, Request):
            if not options.send:
                parser.error(f"{option}: allowed is a --send before it")
            *options.send, last = options.send
            value = last._replace(**{"body": value} if self.dest == "body" else {"headers": (*last.headers, value)})
        options.send = [*options.send, value]


def _request(text: str) -> Request:
    method, _, path = text.partition(" ")
    if method.upper() not in _METHODS or not path.startswith("/") or any(code <= " " for code in path):
        allowed = f"one of {', '.join(_METHODS)}, a space, and a path that begins with / and has no spaces"
        raise argparse.ArgumentTypeError(f"{text!r}: allowed is {allowed}")
    return Request(method.upper(), path)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r}: allowed is a name, a colon, and a value")
    return name.strip(), value.strip()


def _body(text: str) -> str:
    try:
        return Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None


def _between(least: float, most: float, text: str) -> float:
    with suppress(ValueError):
        if least <= (number := float(text)) <= most:
            return number
    allowed = f"{least:g} or more" if most == math.inf else f"from {least:g} to {most:g}"
    raise argparse.ArgumentTypeError(f"{text!r}: allowed is a number, {allowed}")
