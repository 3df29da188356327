"""`python -m app queue`: counts or shows the messages in the queue."""

import json
import re
import sys
from collections.abc import Iterable

import click
from click.core import ParameterSource

from app.settings import load_worker_settings
from app.sqs.inspect import QueueInspector
from app.sqs.message import Seen

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@click.command()
@click.option("--peek", is_flag=True, help="Show the messages without removing them.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="With --peek: maximum number of messages to show.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="With --peek: show each message, with its attributes, as one line of JSON."
)
def queue(peek: bool, limit: int, as_json: bool) -> None:
    """Count the messages in a queue, or show them with --peek.

    APP_SQS_QUEUE_URL names the queue. --peek receives the messages, and each receive counts towards maxReceiveCount.
    So --peek rejects a queue with a dead-letter queue, to which SQS could move the messages.
    """
    limited = click.get_current_context().get_parameter_source("limit") is ParameterSource.COMMANDLINE
    if not peek and (as_json or limited):
        raise click.UsageError("--limit and --json have no effect without --peek")
    url = load_worker_settings().require_queue_url()
    inspector = QueueInspector(url)
    counts = inspector.counts()
    say(f"{url}: {counts.waiting:,} messages waiting, {counts.in_flight:,} in flight, {counts.delayed:,} delayed")
    if peek:
        say("warning: --peek receives the messages, and SQS counts each receive of a message")
        show(inspector.receive(limit), as_json)


def show(messages: Iterable[Seen], as_json: bool) -> None:
    """Writes each message: its body and a line break to standard output, its attributes to standard error.

    If standard output is a terminal, control characters of the body are escaped. If `as_json` is True, writes the body
    and the attributes to standard output instead, as one line of JSON per message. Lone surrogates are always escaped,
    because UTF-8 cannot encode them.
    """
    for message in (_encodable(one) for one in messages):
        if as_json:
            line = json.dumps({"attributes": message.attributes, "body": message.body}, ensure_ascii=False)
            click.echo(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line))  # `dumps` keeps U+007F to U+009F
            continue
        facts = " ".join(f"{name}={_printable(value)}" for name, value in message.attributes.items())
        say(f"── {facts} ({len(message.body.encode()):,} bytes)")
        body = message.body
        if sys.stdout.isatty():  # a pipe gets the exact bytes
            body = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", body)
        click.echo(body.encode())


def _encodable(message: Seen) -> Seen:
    """Returns the message with lone surrogates escaped. SQS rejects them, but an emulator of SQS may accept them."""
    found = [message.body, *message.attributes.values()]
    body, *values = [text.encode(errors="backslashreplace").decode() for text in found]
    return Seen(body, dict(zip(message.attributes, values, strict=True)))


def _printable(value: str) -> str:
    return value if value.isprintable() else repr(value)


def say(text: str) -> None:
    click.echo(text, err=True)
