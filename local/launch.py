"""Starts the service and a worker as child processes that use a local run's stand-ins."""

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from app.errors import ConfigurationError
from app.settings import Release, WebSettings, load_settings, load_worker_settings
from app.settings.text import http_url
from local.child import child_process
from local.local_run import REPLACED, LocalRun, start_stand_ins
from local.local_settings import LocalSettings, load_local_settings
from local.ports import free_port, listen
from local.readiness import is_ready, wait_until_ready
from profiles import instruments

# The time-out for the start of the service. It is long enough for a busy machine; an idle machine needs two or three
# seconds.
START_SECONDS = 90
# A worker that still runs this many seconds after SIGTERM is killed. A kill may interrupt a long poll of 20 s, or leave
# messages unreleased. Both are harmless, because the queue ends together with the local run.
WORKER_STOP_SECONDS = 3.0
NONE: Mapping[str, str] = MappingProxyType({})
# The arguments of `python -m` that run the service. INSTRUMENTED also runs the instruments, such as a profiler, that
# the variables INSTRUMENT_… choose.
WEB = ("app", "web")
INSTRUMENTED = ("profiles.instruments",)
# Prefixes of variables that the worker does not get: two processes cannot listen on the same metrics port, and without
# APP_HOST, the worker listens on loopback only.
_SERVICE_ONLY = ("APP_METRICS_", "APP_HOST")


def no_rate_limit() -> dict[str, str]:
    """Returns APP_CHARGEBEE_RATE as the user has set it, or else a rate so high that the stand-in rejects no call.

    v01 calls Chargebee itself, and does not limit its calls. With the default rate, which is the limit of a Chargebee
    test site, the stand-in would soon answer 429, and v01 would answer 503. The local run should show how v01 waits for
    Chargebee's answers.
    """
    return {"APP_CHARGEBEE_RATE": os.environ.get("APP_CHARGEBEE_RATE", "1000000")}


def defaults(given: Mapping[str, str], release: Release) -> dict[str, str]:
    """Returns the environment variables that a local run sets, except those that the user has set in `given`."""
    variables = {"APP_DOCS": "1"}
    if not given.get("APP_BASIC_AUTH_USERNAME"):
        variables |= {"APP_BASIC_AUTH_USERNAME": "demo", "APP_BASIC_AUTH_PASSWORD": "demo"}
    if release.published:
        # 0 means no limit. The service that the talk (CHANGELOG.md, Sources) describes did not limit how long
        # webhooks wait. With a limit, the answer 503 would end long waits, and hide how long they are.
        variables["APP_MAX_WAIT"] = "0"
    return {name: value for name, value in variables.items() if not given.get(name)}


@contextmanager
def start_web(
    run: LocalRun,
    given: Mapping[str, str],
    settings: WebSettings,
    log: int | None = None,
    command: Sequence[str] | None = None,
) -> Iterator[tuple[LocalRun, "subprocess.Popen[bytes]"]]:
    """Runs `python -m app web` until the `with` block ends.

    Yields two values: a copy of `run` with the service's address, and the service's process. `given` are the user's
    environment variables, from which the caller has read `settings`. `log` is the file descriptor to which the service
    writes its log, or None for standard error. If `command` is set, runs `python -m` with these arguments instead.
    Otherwise, if `given` contains a variable INSTRUMENT_…, runs `python -m profiles.instruments`. Raises
    ConfigurationError if the service does not become ready.
    """
    port = settings.port or free_port()
    # Checks that the port is free. Otherwise, the readiness check could reach another service on this port.
    listen(settings.host, port, f"APP_PORT={port}: the service").close()
    variables = run.environment(given) | defaults(given, settings.release) | {"APP_PORT": str(port)}
    metrics = None
    if settings.metrics_port is not None:
        metrics = settings.metrics_port or free_port()
        variables["APP_METRICS_PORT"] = str(metrics)
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104  # only compares
    run = replace(
        run,
        url=http_url(host, port),
        metrics=f"{http_url(host, metrics)}/metrics" if metrics else None,
    )
    command = command or (INSTRUMENTED if instruments.chosen(given) else WEB)
    with child_process(command, variables, patience=0, output=log, errors=log) as process:
        try:
            _wait(process, run)
            yield run, process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(settings.graceful_timeout + 5)


@contextmanager
def start_worker(
    run: LocalRun, given: Mapping[str, str], variables: Mapping[str, str] = NONE
) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs `python -m app worker` until the `with` block ends.

    `given` are the user's environment variables, and `variables` replace some of their values. When the block ends, the
    worker gets SIGTERM. A worker that still runs 3 s later gets SIGKILL.
    """
    kept = {name: value for name, value in given.items() if not name.startswith(_SERVICE_ONLY)}
    environment = run.environment(kept) | {"APP_PORT": "0", **variables}
    with child_process(["app", "worker"], environment, WORKER_STOP_SECONDS) as process:
        yield process


@contextmanager
def start_service(
    run_dir: Path, variables: Mapping[str, str] = NONE, log: int | None = None, command: Sequence[str] | None = None
) -> Iterator[LocalRun]:
    """Runs the stand-ins and the service on free ports until the `with` block ends.

    The service gets the environment of this process, in which `variables` replace some values. `start_web` describes
    `log` and `command`. Raises ConfigurationError if a setting is wrong, or if a stand-in or the service does not
    start.
    """
    with changed_environment({"APP_PORT": "0", **variables}, REPLACED):
        settings, options = load_settings(), load_local_settings()
        rate = load_worker_settings().chargebee_rate
        given = {"APP_LOG_LEVEL": "ERROR", **os.environ}
    with (
        start_stand_ins(with_run_dir(options, run_dir), rate) as run,
        start_web(run, given, settings, log, command) as web,
    ):
        started, _ = web
        started.write(run_dir)
        yield started


def with_run_dir(options: LocalSettings, run_dir: Path) -> LocalSettings:
    """Returns a copy of `options` with `run_dir` as APP_LOCAL_RUN_DIR."""
    return options.model_copy(update={"run_dir": run_dir})


@contextmanager
def changed_environment(variables: Mapping[str, str], unset: Iterable[str] = ()) -> Iterator[None]:
    """Removes `unset` from this process's environment, and sets `variables`. Undoes this when the `with` block ends."""
    before = dict(os.environ)
    try:
        for name in unset:
            os.environ.pop(name, None)
        os.environ.update(variables)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _wait(process: "subprocess.Popen[bytes]", run: LocalRun) -> None:
    assert run.url is not None
    url = run.url
    try:
        wait_until_ready(process, lambda: is_ready(url), START_SECONDS)
    except TimeoutError:
        raise ConfigurationError(f"the service was not ready within {START_SECONDS} s") from None
    except ChildProcessError:
        raise ConfigurationError("the service ended before it was ready (see its error above)") from None
