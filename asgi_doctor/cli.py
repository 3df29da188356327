"""The command `asgi-doctor`, also `python -m asgi_doctor`."""

import argparse
import math
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from asgi_doctor import outputs, report, session
from asgi_doctor.errors import START_FAILED, DoctorError
from asgi_doctor.finding import Finding
from asgi_doctor.load import Request
from asgi_doctor.report import Explain
from asgi_doctor.terminal import complain, say
from asgi_doctor.watchdog import LEAST, MOST

_SEND = "like 'GET /pay': send it twice alone and fifty times at once, then stop, unless --for says when; repeatable"
_HEADER = "of the --send before, like 'Authorization: Bearer {token}': the token of an earlier answer, a JSON object"
_BODY = "of the --send before: JSON, or a form, or @FILE with one of them"
_FOR = "stop after so many seconds of serving; fail if the start takes longer than that, and than 30 seconds"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def parser(prog: str) -> argparse.ArgumentParser:
    """Returns the parser of the command's options. `prog`: the command's name in its help and its errors."""
    found = argparse.ArgumentParser(
        prog=prog,
        description="Serve an ASGI application with uvicorn, and name the lines that block its event loop while you "
        "send requests to it. Ctrl-C stops the doctor and prints a summary.",
    )
    add = found.add_argument
    add("target", metavar="MODULE:APP", help="imported from the current directory, as uvicorn does")
    add("--factory", action="store_true", help="APP is a function that returns the application")
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=int, help="port to listen on; 0 takes a free one (default: 8000, or a free one with --send)")
    add("--loop", choices=("auto", "asyncio", "uvloop"), default="auto", help="auto: uvloop if it is installed")
    add(
        "--warn",
        type=partial(_between, LEAST, MOST),
        default=0.1,
        metavar="SECONDS",
        help="report longer blocks (default: %(default)s)",
    )
    add("--for", type=partial(_between, 0.001, math.inf), dest="seconds", metavar="SECONDS", help=_FOR)
    add("--no-page", dest="page", action="store_false", help="do not serve the page that lists the findings")
    add("--send", type=_request, action=_Send, default=[], metavar="REQUEST", help=_SEND)
    add("--header", type=_header, action=_Send, default=argparse.SUPPRESS, help=_HEADER)
    add("--body", type=_body, action=_Send, default=argparse.SUPPRESS, help=_BODY)
    add("--check", action="store_true", help="exit with 1 for any finding that is not in the baseline")
    add("--baseline", type=Path, metavar="FILE", help="known findings, which do not fail the check")
    add("--write-baseline", type=Path, metavar="FILE", help="write all findings as a baseline")
    add("--junit", type=Path, metavar="FILE", help="write the new findings as JUnit's XML")
    add("--json", type=Path, metavar="FILE", help="write the findings as JSON")
    return found


def main(
    arguments: Sequence[str] | None = None, *, prog: str = "asgi-doctor", explain: Explain = lambda finding: ()
) -> int:
    """Runs the command and returns its exit code.

    The exit code is 0, 1 if --check finds something, 2 after a DoctorError or if --check cannot tell, and uvicorn's (3)
    if the application's start-up fails. If --for is given and the start-up hangs, ends the process with 3. `explain`
    returns more lines about a finding, for the summary. Raises SystemExit after --help (0), or if an option is wrong
    (2).
    """
    options = parser(prog).parse_args(arguments)
    try:
        wanted = _wanted(options)
        known = outputs.known_findings(options.baseline) if options.baseline is not None else set()
        result = session.run(wanted, say, complain, lambda hangs: _leave(options, known, hangs, explain))
    except DoctorError as error:
        complain(f"error: {error}")
        return 2
    return _end(options, known, result, explain)


def command() -> None:
    """Runs the console script `asgi-doctor`. Does not wait for the application's threads, which may never end."""
    code = main()
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        os._exit(code)
    sys.exit(code)


def _wanted(options: argparse.Namespace) -> session.Wanted:
    """Returns the options of the session. Raises DoctorError if the folder of a file is missing."""
    for file in (options.json, options.write_baseline, options.junit):
        if file is not None and not file.parent.is_dir():
            raise DoctorError(f"{file}: there is no folder {file.parent}")
    options.port = (0 if options.send else 8000) if options.port is None else options.port
    return session.Wanted(**{one.name: getattr(options, one.name) for one in fields(session.Wanted)})


def _end(options: argparse.Namespace, known: outputs.Known, result: session.Result, explain: Explain) -> int:
    """Prints the summary, writes the files, and returns the exit code."""
    new = [finding for finding in result.findings if outputs.key(finding) not in known]
    for line in report.summary(new, len(result.findings) - len(new), result.requests, options.warn, explain):
        say(line)
    try:
        _write(options, result, new)
    except DoctorError as error:
        complain(f"error: {error}")
        return 2
    if result.failed or not options.check:
        return result.failed
    if result.refused:
        complain("error: --check: all answers to a request of --send are errors: see `sent` above")
        return 2
    return 1 if new else 0


def _leave(options: argparse.Namespace, known: outputs.Known, hangs: session.Result, explain: Explain) -> None:
    """Ends the process from another thread than the main one, even if an output fails."""
    code = START_FAILED
    try:
        code = _end(options, known, hangs, explain)
    finally:
        os._exit(code)


def _write(options: argparse.Namespace, result: session.Result, new: list[Finding]) -> None:
    """Writes all findings as JSON and as a baseline, and the new ones as failed tests.

    After a start that failed, there is no baseline, and the start is a test with an error.
    """
    outputs.write(options.json, outputs.as_json(result.findings))
    if not result.failed:
        outputs.write(options.write_baseline, outputs.baseline(result.findings))
    outputs.write(options.junit, outputs.as_junit(new, result.requests, failed=bool(result.failed)))


class _Send(argparse.Action):
    """Collects the requests. A header and a body belong to the request before them."""

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
    raise argparse.ArgumentTypeError(f"{text!r}: allowed is a number of seconds, {allowed}")
