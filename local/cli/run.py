"""`python -m local run`: runs the service on a laptop, with stand-ins for AWS and Chargebee."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from types import FrameType

import click
from loguru import logger

from app.errors import ConfigurationError
from app.settings import WebSettings, load_settings, load_worker_settings
from app.settings.text import listing
from app.telemetry.logging import configure_logging
from local import ctrl_c, exposure, seeding
from local.child import LAST_SECONDS
from local.cli.shown_services import page_config
from local.launch import changed_environment, start_web, start_worker
from local.live.start import start as start_page
from local.local_run import REPLACED, LocalRun, start_stand_ins
from local.local_settings import LocalSettings, load_local_settings
from local.sample_events import default_file, sample_files

METRICS_PORT = "9464"  # a fixed port, so that a Prometheus server finds the service again after a restart
_SETTINGS = f"\b\nSettings, from the environment (default in brackets):\n{listing(LocalSettings)}"


@click.command(epilog=_SETTINGS)
def run() -> None:
    """Run everything on this machine: the service, a worker, a live page, and stand-ins for AWS and Chargebee.

    The service and the worker are `python -m app web` and `python -m app worker`; their environment variables apply.
    After Ctrl-C, the service finishes the requests in flight; a second Ctrl-C ends the service at once. After SIGTERM,
    the service drains first (see APP_DRAIN_DELAY).
    """
    with changed_environment({"APP_METRICS_PORT": os.environ.get("APP_METRICS_PORT") or METRICS_PORT}):
        settings, options = load_settings(), load_local_settings()
        given = dict(os.environ)
    if already_set := [name for name in REPLACED if os.environ.get(name)]:
        raise ConfigurationError(
            "\n".join(f"{name} is set, but a local run needs its own value: unset the variable" for name in already_set)
        )
    configure_logging(settings)
    exposure.warn(settings)
    ctrl_c.end_like_ctrl_c()  # so that SIGTERM removes the certificates; later, `_pass_signals_on` sets other handlers
    with ExitStack() as stack:
        stand_ins = stack.enter_context(start_stand_ins(options, load_worker_settings().chargebee_rate))
        logger.info("Stand-in for Chargebee, with a web page of the invoices, on {}", stand_ins.chargebee)
        page = stack.enter_context(start_page())
        if options.worker:
            _start_worker(stack, stand_ins, settings, given)
        started, web = stack.enter_context(start_web(stand_ins, given, settings))
        _pass_signals_on(web)  # must come before `local.json` tells other programs that the service is ready
        started.write(options.run_dir)
        page.show(page_config([(started, settings.release)], settings, options))
        code = web.wait()
    sys.exit(code)


def _start_worker(stack: ExitStack, stand_ins: LocalRun, settings: WebSettings, given: dict[str, str]) -> None:
    """Registers the invoices of the sample webhooks, and starts a worker, which closes invoices.

    The README's curl commands send the sample webhooks, but do not register their invoices. With v01, starts no worker,
    because this release has no queue and closes the invoices itself.
    """
    seeding.seed(stand_ins, (file.read_bytes() for file in [default_file(), *sample_files()]))
    if settings.release.enqueues:
        stopping = threading.Event()
        worker = stack.enter_context(start_worker(stand_ins, given))
        stack.callback(stopping.set)
        threading.Thread(target=_report, args=(worker, stopping), daemon=True).start()


def _report(worker: "subprocess.Popen[bytes]", stopping: threading.Event) -> None:
    code = worker.wait()
    if not stopping.is_set():
        logger.error("The worker ended with exit code {}; invoices will stay pending", code)


def _kill_later(web: "subprocess.Popen[bytes]") -> None:
    time.sleep(LAST_SECONDS)
    web.kill()


def _pass_signals_on(web: "subprocess.Popen[bytes]") -> None:
    """Installs handlers that pass SIGINT, SIGTERM and SIGHUP on to the service.

    This process kills the service if the service has not ended within LAST_SECONDS of the second SIGINT or SIGTERM.
    The kill is necessary because the service handles no signal while a webhook blocks the event loop.
    """
    passed = 0

    def pass_on(number: int, frame: FrameType | None) -> None:
        nonlocal passed
        web.send_signal(number)
        passed += number != signal.SIGHUP
        if passed > 1:
            threading.Thread(target=_kill_later, args=(web,), daemon=True).start()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup, SIGHUP stays ignored
            signal.signal(number, pass_on)
