"""The command line of attack.sh. Imports only the standard library, so that --help works before any installation."""

import argparse
import math
import re
from pathlib import Path

BUDGETS = {"burst": "at most one core", "capped": "a hard quarter of a core", "none": "no limit"}
# Options about the service and the queue that the attack starts. `parse` rejects them if --url is given.
STARTED_HERE = ("release", "budget", "queue", "plain", "bundle", "sqs_latency", "sqs_jitter", "toxic")
# Options that define the request to a service at --url, which may be another project's.
OF_ANY_SERVICE = ("method", "body", "header", "health")
# The options of STARTED_HERE that are about the queue. v01 has no queue.
OF_THE_QUEUE = ("queue", "plain", "bundle", "sqs_latency", "sqs_jitter", "toxic")
RATE = 500
_UNITS = {"ms": 0.001, "s": 1, "m": 60}


def seconds(text: str) -> float:
    """Converts a duration such as `500ms` or `1m30s` to seconds. Raises ArgumentTypeError for any other text."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed is a duration such as 500ms, 5s or 4m")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _duration(text: str) -> float:
    """Returns `seconds(text)`. Rejects 0, because vegeta attacks forever if its duration is 0."""
    if (result := seconds(text)) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed is a duration above 0, such as 500ms, 5s or 4m")
    return result


def _whole_ms(text: str) -> float:
    """Returns `seconds(text)`. Rejects parts of a millisecond, because toxiproxy would ignore them."""
    result = seconds(text)
    if not math.isclose(1000 * result, round(1000 * result)):
        raise argparse.ArgumentTypeError(f"{text!r}: allowed are whole milliseconds, such as 8ms")
    return result


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed is a whole number of 1 or more")
    return int(text)


def toxic(text: str) -> tuple[str, dict[str, float]]:
    """Splits a fault of toxiproxy, such as `reset_peer:timeout=100,toxicity=0.01`, into its type and its attributes.

    Raises ArgumentTypeError if a value is no whole number or, for `toxicity`, no number.
    """
    kind, _, rest = text.partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",") if pair]
    try:
        # Only `toxicity` is a fraction. For the other attributes, toxiproxy rejects a number such as 100.0.
        return kind, {name: float(value) if name == "toxicity" else int(value) for name, _, value in pairs}
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: allowed is TYPE:NAME=NUMBER,… with toxiproxy's names, and with whole numbers except toxicity"
        ) from None


def address(text: str) -> str:
    """Returns `text`. Raises ArgumentTypeError unless `text` is an HTTP URL without credentials.

    The results contain the URL, so it must not contain credentials. The error's message does not contain the URL.
    """
    if "@" in text:
        raise argparse.ArgumentTypeError("allowed is a URL without credentials")
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError("allowed is a URL that begins with http:// or https://")
    return text


def header(text: str) -> tuple[str, str]:
    """Splits `NAME: VALUE` into a pair. Raises ArgumentTypeError if the colon or the name is missing.

    The error's message does not contain the value, which may be secret.
    """
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError("allowed is 'NAME: VALUE'")
    return name.strip(), value.strip()


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="attack.sh",
        description="One attack with vegeta, after one request as a check. Without --url it starts queue, added latency"
        " and a release under the budget. Exit code: 0 the audit holds, 1 it does not, 2 set-up failed.",
        epilog="APP_… variables about how the service runs are passed to the release, as in"
        " APP_SQS_BATCHES=2 loadtest/attack.sh; a line lists them. With --url, APP_BASIC_AUTH_USERNAME and _PASSWORD"
        " are sent (demo, demo).",
    )
    _load(result)
    _here(result)
    _elsewhere(result)
    result.add_argument("--name", help="of the results (the release, or the URL's host)")
    result.add_argument("--out", type=Path, metavar="DIR", help="(loadtest/results/attacks/<time>-<name>)")
    return result


def _load(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("load")
    group.add_argument("--rate", type=_positive, metavar="N", help=f"requests a second ({RATE})")
    group.add_argument("--duration", type=_duration, default=5, metavar="D", help="500ms, 5s, 4m (5s)")
    users = "a closed loop instead: N users, each waits for its answer"
    group.add_argument("--users", type=_positive, metavar="N", help=users)
    group.add_argument("--timeout", type=_duration, default=30, metavar="D", help="of the client (30s)")
    group.add_argument("--no-keepalive", action="store_true", help="a new connection for each webhook")


def _here(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("started here")
    newest = "v01_inline … (the newest; `python -m local releases` lists them)"
    budgets = "; ".join(f"{name}: {what}" for name, what in BUDGETS.items())
    toxics = "e.g. reset_peer:timeout=100,toxicity=0.01"
    group.add_argument("--release", metavar="R", help=newest)
    group.add_argument("--budget", choices=BUDGETS, default="burst", help=budgets)
    queues = ("auto", "stand-in", "embedded")
    group.add_argument("--queue", choices=queues, default="auto", help="auto: the stand-in, by Go")
    group.add_argument("--plain", action="store_true", help="SQS without TLS")
    bundles = "openssl-1.1: as many CAs as load in the time that all took under OpenSSL 1.1.1"
    group.add_argument("--bundle", choices=("full", "openssl-1.1"), default="full", help=bundles)
    group.add_argument("--sqs-latency", type=_whole_ms, default=0.008, metavar="D", help="added to each answer (8ms)")
    group.add_argument("--sqs-jitter", type=_whole_ms, default=0, metavar="D", help="of that latency, up or down (0ms)")
    group.add_argument("--toxic", type=toxic, action="append", default=[], metavar="T", help=toxics)


def _elsewhere(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("already running: any service, or (a URL without a path) this project's")
    drained = "its queue, drained by the audit: a queue only for load tests"
    body = "what to send; {{id}} in it becomes a number that is new in each request"
    healthy = "probed meanwhile; an answer below 500 counts (/healthz)"
    group.add_argument("--url", type=address, help="e.g. http://127.0.0.1:8000/orders")
    group.add_argument("--method", type=str.upper, metavar="M", help="(POST with --body, else GET)")
    group.add_argument("--body", type=Path, metavar="FILE", help=body)
    group.add_argument("--header", type=header, action="append", default=[], metavar="H", help="'NAME: VALUE'")
    group.add_argument("--health", metavar="PATH", help=healthy)
    group.add_argument("--yes-this-is-mine", action="store_true", help="attack a service on another machine")
    group.add_argument("--queue-url", type=address, help=drained)
    group.add_argument("--sqs-endpoint", type=address, help="where that queue is (AWS itself)")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Returns the options. Exits with 2 if an option is invalid, or if options contradict each other."""
    result = parser()
    options = result.parse_args(arguments)
    if options.users is not None and options.rate is not None:
        result.error("--rate and --users: allowed is one of them")
    if options.url is None and (options.queue_url or options.sqs_endpoint):
        result.error("--queue-url and --sqs-endpoint belong to --url: without it, the attack starts its own queue")
    if options.url is None and any(getattr(options, name) for name in OF_ANY_SERVICE):
        result.error(f"--{', --'.join(OF_ANY_SERVICE)}: without --url, the attack sends webhooks to a release")
    if options.url is not None:
        for name in STARTED_HERE:
            if getattr(options, name) != result.get_default(name):
                result.error(f"--{name.replace('_', '-')}: the service at --url and its queue already run")
    if options.sqs_endpoint and not options.queue_url:
        result.error("--sqs-endpoint: --queue-url is missing, the queue to drain there")
    return options
