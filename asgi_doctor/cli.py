"""The command `asgi-doctor`, also `python -m asgi_doctor`."""

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from asgi_doctor import attach, configuration, options, outputs, report, session
from asgi_doctor.configuration import Permitted
from asgi_doctor.errors import START_FAILED, DoctorError
from asgi_doctor.finding import Finding
from asgi_doctor.report import Explain
from asgi_doctor.terminal import complain, say


def main(
    arguments: Sequence[str] | None = None, *, prog: str = "asgi-doctor", explain: Explain = lambda finding: ()
) -> int:
    """Runs the command and returns its exit code.

    The exit code is 2 after a DoctorError, 3 (uvicorn's code) if the application's start-up fails, and otherwise 0.
    With --check, 0 becomes 2 if any request of --send got only errors as responses, or else 1 if a finding is new.
    If the start-up hangs and --for is given, this function does not return, but ends the process with 3. `explain`
    adds lines to a finding in the summary. Raises SystemExit after --help (0), or if an option is wrong (2).
    """
    try:
        configured = configuration.read(Path.cwd())
        wanted = options.parse(sys.argv[1:] if arguments is None else arguments, prog, configured)
        known = configuration.known_findings(wanted.baseline, writes=wanted.write_baseline is not None)
        permitted = Permitted(configured.allow, known)
        for file in (wanted.json, wanted.write_baseline, wanted.junit, wanted.sarif):
            if file is not None and not file.parent.is_dir():
                raise DoctorError(f"{file}: there is no folder {file.parent}")
        if "pid" in wanted:
            result = attach.run(wanted.pid, wanted.warn, wanted.seconds, say)
        else:
            asked = session.Wanted(**{one.name: getattr(wanted, one.name) for one in fields(session.Wanted)})
            result = session.run(asked, say, complain, lambda hangs: _leave(wanted, permitted, hangs, explain))
    except DoctorError as error:
        complain(f"error: {error}")
        return 2
    return _end(wanted, permitted, result, explain)


def command() -> None:
    """Runs the console script `asgi-doctor`. Does not wait for the application's threads, which may never end."""
    code = main()
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        os._exit(code)
    sys.exit(code)


def _end(wanted: argparse.Namespace, permitted: Permitted, result: session.Result, explain: Explain) -> int:
    """Prints the summary, writes the files that the options name, and returns the exit code."""
    new = permitted.new(result.findings)
    for line in report.summary(new, len(result.findings) - len(new), result.seen, wanted.warn, explain):
        say(line)
    for finding in new if wanted.github else ():
        say(outputs.as_github(finding))
    try:
        _write(wanted, result, new)
    except DoctorError as error:
        complain(f"error: {error}")
        return result.failed or 2
    if result.failed or not wanted.check:
        return result.failed
    if result.refused:
        complain("error: --check: all answers to a request of --send are errors: see `sent` above")
        return 2
    if new:
        complain("error: --check: there are new findings, so the exit code is 1")
    return int(bool(new))


def _leave(wanted: argparse.Namespace, permitted: Permitted, hangs: session.Result, explain: Explain) -> None:
    """Calls `_end`, and then ends the process, even if `_end` fails. Does not run in the main thread."""
    code = START_FAILED
    try:
        code = _end(wanted, permitted, hangs, explain)
    finally:
        os._exit(code)


def _write(wanted: argparse.Namespace, result: session.Result, new: list[Finding]) -> None:
    """Writes all findings as JSON and as a baseline, and the new findings as JUnit's XML and as SARIF.

    If the start-up has failed, writes no baseline, and adds the start-up to JUnit's XML as a test with an error.
    """
    outputs.write(wanted.json, outputs.as_json(result.findings))
    if not result.failed:
        outputs.write(wanted.write_baseline, configuration.baseline(result.findings))
    outputs.write(wanted.junit, outputs.as_junit(new, result.seen, failed=bool(result.failed)))
    outputs.write(wanted.sarif, outputs.as_sarif(new, failed=bool(result.failed)))
