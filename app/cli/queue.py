"""`python -m app queue`: what lies in the queue."""

import json
import re
import sys
from collections.abc import Iterable

import click

from app.local.peek import peek
from app.local.run import LocalRun, read_run
from app.settings import load_settings
from app.sqs.message import Seen

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@click.command()
@click.option("--peek", "look", is_flag=True, help="Show the messages, and leave them where they are.")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many to show.")
@click.option("--json", "as_json", is_flag=True, help="With --peek: a line each, as JSON, with attributes and body.")
def queue(look: bool, limit: int, as_json: bool) -> None:
    """Count the messages of a queue, or look at them with --peek.

    The queue is that of APP_SQS_QUEUE_URL, else that of the local run (`make run`). Looking into the local
    queue changes nothing. Elsewhere looking is receiving: it counts towards the dead-letter queue, so a
    queue that has one is refused.
    """
    settings = load_settings()
    if settings.sqs_queue_url is None:
        _local(read_run(settings.run_dir), look, limit, as_json)
    else:
        _remote(settings.sqs_queue_url, look, limit, as_json)


def _local(run: LocalRun, look: bool, limit: int, as_json: bool) -> None:
    for url in (run.queue_url, run.dead_letter_queue_url):
        messages = peek(run.endpoint, url)
        _say(f"{url}: {len(messages):,} messages")
        if look:
            _show(messages[:limit], as_json)
            if len(messages) > limit:
                _say(f"… and {len(messages) - limit:,} more (--limit)")


def _remote(url: str, look: bool, limit: int, as_json: bool) -> None:
    from app.sqs.inspect import QueueInspector  # boto3, which looking into the local queue does not need

    inspector = QueueInspector(url)
    counts = inspector.counts()
    _say(f"{url}: {counts.waiting:,} messages waiting, {counts.in_flight:,} in flight, {counts.delayed:,} delayed")
    if look:
        _say("warning: a look at a real queue is a receive, and counts as one")
        _show(inspector.receive(limit), as_json)


def _show(messages: Iterable[Seen], as_json: bool) -> None:
    """Bodies go to standard output exactly as they are, everything else to standard error."""
    for message in messages:
        if as_json:
            click.echo(json.dumps({"attributes": message.attributes, "body": message.body}, ensure_ascii=False))
            continue
        facts = " ".join(f"{name}={_printable(value)}" for name, value in message.attributes.items())
        _say(f"── {facts} ({len(message.body.encode()):,} bytes)")
        # A terminal obeys control characters, a pipe wants the exact bytes.
        body = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", message.body) if _on_terminal() else message.body
        click.echo(body.encode())


def _printable(value: str) -> str:
    return value if value.isprintable() else repr(value)


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _say(text: str) -> None:
    click.echo(text, err=True)
