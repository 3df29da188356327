"""Runs one attack. attack.sh calls this module. `python -m loadtest.attack --help` lists the options."""

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from loadtest import attack_options

if TYPE_CHECKING:
    from app.settings import Release
    from loadtest.fire.http_request import Request
    from loadtest.fire.progress import Progress
    from loadtest.record.shapes import Load, Measurement

# The credentials for the service at --url, unless the environment sets others. `python -m local` accepts these.
CREDENTIALS = {"APP_BASIC_AUTH_USERNAME": "demo", "APP_BASIC_AUTH_PASSWORD": "demo"}


def main() -> int:
    chosen = attack_options.parse()
    # Imported after the options are parsed, because --help must work before any package is installed.
    from app.starting import importing

    with importing():
        from loadtest.failures import exit_on_failure

    with exit_on_failure():
        return _run(chosen)


def _run(chosen: Namespace) -> int:
    from loadtest.fire import progress
    from loadtest.record import folders, meta
    from loadtest.record.comparison import AttackRecord
    from loadtest.record.shapes import Load
    from loadtest.report import show
    from loadtest.stage import file_limits, subject
    from loadtest.stage.awake import awake

    name = chosen.name or (urlsplit(chosen.url).netloc.replace(":", "-") if chosen.url else _release(chosen).value)
    out = chosen.out or folders.attack(name)
    load = Load(
        rate=chosen.rate or attack_options.RATE,
        duration_s=chosen.duration,
        timeout_s=chosen.timeout,
        users=chosen.users,
        keepalive=not chosen.no_keepalive,
    )
    file_limits.raise_limit(load)
    if chosen.url:
        _require_permission(chosen)
        ours = {name for name in os.environ if name.startswith("APP_")}
        sent = set() if _is_any_service(chosen) else ours & CREDENTIALS.keys()
        subject.print_variables(sorted(sent), sorted(ours - sent))
    else:
        subject.print_inherited()
    environment = meta.environment(*(("vegeta",) if chosen.url else ("vegeta", "toxiproxy-server")))
    with awake(), progress.attack(name, load) as shown:
        measurement = (_elsewhere if chosen.url else _here)(chosen, name, load, out, shown)
    attack = AttackRecord(environment=environment, measurement=measurement)
    (out / "meta.json").write_text(attack.model_dump_json(indent=2) + "\n", encoding="utf-8")
    show.attack(attack, out)
    return 0 if measurement.audit is None or measurement.audit.holds else 1


def _release(chosen: Namespace) -> "Release":
    """Returns the release that --release names, or the newest. Raises ConfigurationError for an unknown name."""
    from app.errors import ConfigurationError
    from app.settings import NEWEST, Release

    try:
        return Release(chosen.release) if chosen.release else NEWEST
    except ValueError:
        raise ConfigurationError(f"--release={chosen.release}: allowed is {', '.join(Release)}") from None


def _require_permission(chosen: Namespace) -> None:
    """Raises ConfigurationError if --url is on another machine and --yes-this-is-mine is missing."""
    from app.errors import ConfigurationError
    from loadtest.stage.here import is_here

    if not chosen.yes_this_is_mine and not is_here(chosen.url):
        raise ConfigurationError(
            f"--url={chosen.url}: this is not an address of this machine. An attack may stop a service, so attack only"
            " your own, with --yes-this-is-mine"
        )


def _is_any_service(chosen: Namespace) -> bool:
    """Returns True if --url has a path other than / and PATH, or if an option defines the request.

    The service at --url may then be another project's. Otherwise, the attack sends webhooks to this project's service.
    """
    from loadtest.fire.traffic import PATH

    own_path = urlsplit(chosen.url).path.rstrip("/").removesuffix(PATH)
    return bool(own_path) or any(getattr(chosen, name) for name in attack_options.OF_ANY_SERVICE)


def _require_no_queue_options(chosen: Namespace, release: "Release") -> None:
    """Raises ConfigurationError if an option about the queue is set. `release`: a release that uses no queue."""
    from app.errors import ConfigurationError

    parser = attack_options.parser()
    for name in attack_options.OF_THE_QUEUE:
        if getattr(chosen, name) != parser.get_default(name):
            option = f"--{name.replace('_', '-')}"
            raise ConfigurationError(f"{option}: {release} has no queue; its table has a latency of 8 ms and TLS")


def _here(chosen: Namespace, name: str, load: "Load", out: Path, shown: "Progress") -> "Measurement":
    from loadtest.fire.attack_measurement import measure
    from loadtest.stage import subject, toxiproxy
    from loadtest.stage.billing_stage import open_billing
    from loadtest.stage.stack import open_stack

    release = _release(chosen)
    if not release.enqueues:
        _require_no_queue_options(chosen, release)
    shown.phase("starting the queue" if release.enqueues else "starting DynamoDB and Chargebee")
    toxics = [toxiproxy.latency(chosen.sqs_latency, chosen.sqs_jitter), *chosen.toxic]
    queue = open_stack(chosen.queue, toxics, plain=chosen.plain, bundle=chosen.bundle)
    with queue if release.enqueues else open_billing() as stack:
        return measure(stack, subject.release(release, name), chosen.budget, load, out=out, progress=shown)


def _elsewhere(chosen: Namespace, name: str, load: "Load", out: Path, shown: "Progress") -> "Measurement":
    from loadtest.fire.attack_measurement import measure_elsewhere
    from loadtest.fire.drain import Drain
    from loadtest.fire.traffic import Traffic
    from loadtest.stage import queues

    if _is_any_service(chosen):
        return measure_elsewhere(_request(chosen), None, name, load, out=out, progress=shown)
    username, password = (os.environ.get(*pair) for pair in CREDENTIALS.items())
    drain = Drain(queues.client_elsewhere(chosen.sqs_endpoint), chosen.queue_url) if chosen.queue_url else None
    return measure_elsewhere(Traffic(chosen.url, username, password), drain, name, load, out=out, progress=shown)


def _request(chosen: Namespace) -> "Request":
    """Returns the request that the options define. The service at --url may be another project's.

    Raises ConfigurationError if --queue-url is given, because only this project's webhooks can be audited. Raises
    OSError if the file of --body cannot be read.
    """
    from app.errors import ConfigurationError
    from loadtest.fire.http_request import Request

    if chosen.queue_url:
        raise ConfigurationError("--queue-url: only webhooks of this project are audited")
    template = chosen.body.read_bytes() if chosen.body else b""
    headers = dict(chosen.header)
    if chosen.body and "content-type" not in map(str.lower, headers):
        headers["Content-Type"] = "application/json"
    method = chosen.method or ("POST" if chosen.body else "GET")
    return Request(method, chosen.url, headers, template, chosen.health or "/healthz")


if __name__ == "__main__":
    sys.exit(main())
