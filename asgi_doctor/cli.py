"""The command `asgi-doctor`, also `python -m asgi_doctor`."""

import argparse
import math
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from asgi_doctor import outputs, report, session
from asgi_doctor.errors import START_FAILED, DoctorError
from asgi_doctor.finding import Finding
from asgi_doctor.report import Explain
from asgi_doctor.terminal import complain, say

_SEND = "send this request twice alone and fifty times at once, then stop, unless --for says when; may be repeated"
_FOR = "stop after so many seconds of serving; fail if the start takes longer than that, and than 30 seconds"
_LAST_PORT = 65535
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
    add("--port", type=_port, default=8000, help="port to listen on; 0 takes a free one (default: %(default)s)")
    add("--loop", choices=("auto", "asyncio", "uvloop"), default="auto", help="auto: uvloop if it is installed")
    add("--warn", type=_limit, default=0.1, metavar="SECONDS", help="report longer blocks (default: %(default)s)")
    add("--for", type=_seconds, dest="seconds", metavar="SECONDS", help=_FOR)
    add("--no-page", action="store_true", help="do not serve the page that lists the findings")
    add("--send", nargs=2, action="append", default=[], metavar=("METHOD", "PATH"), help=_SEND)
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
    """Returns the options of the session. Raises DoctorError if --send or the folder of a file is not allowed."""
    for file in (options.json, options.write_baseline, options.junit):
        if file is not None and not file.parent.is_dir():
            raise DoctorError(f"{file}: there is no folder {file.parent}")
    for method, path in options.send:
        if method.upper() not in _METHODS or not path.startswith("/") or any(code <= " " for code in path):
            allowed = f"one of {', '.join(_METHODS)}, and a path that begins with / and has no spaces"
            raise DoctorError(f"--send {method} {path}: allowed is {allowed}")
    return session.Wanted(
        options.target,
        factory=options.factory,
        host=options.host,
        port=options.port,
        loop=options.loop,
        warn=options.warn,
        seconds=options.seconds,
        page=not options.no_page,
        send=tuple((method.upper(), path) for method, path in options.send),
    )


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


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed is a whole number from 0 to {_LAST_PORT}")
    return int(text)


def _limit(text: str) -> float:
    return _between(text, 0.01, 60)


def _seconds(text: str) -> float:
    return _between(text, 0.001, math.inf)


def _between(text: str, least: float, most: float) -> float:
    with suppress(ValueError):
        if least <= (number := float(text)) <= most:
            return number
    allowed = f"{least:g} or more" if most == math.inf else f"from {least:g} to {most:g}"
    raise argparse.ArgumentTypeError(f"{text!r}: allowed is a number of seconds, {allowed}")
