"""`python -m local queue`: counts or shows the messages in the queues of the local run."""

import click

from app.cli.queue import say, show
from local.cli import given
from local.local_run import read_run
from local.local_settings import load_local_settings
from local.peek import peek


@click.command()
@click.option("--peek", "show_messages", is_flag=True, help="Show the messages.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="With --peek: maximum number of messages to show for each queue.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="With --peek: show each message as a line of JSON with attributes and body."
)
def queue(show_messages: bool, limit: int, as_json: bool) -> None:
    """Count the messages in the queues of the local run (`make run`), or show them with --peek.

    This command does not receive the messages: it removes none, and does not change how often they were received.
    """
    if not show_messages and (as_json or given("limit")):
        raise click.UsageError("--limit and --json have no effect without --peek")
    run = read_run(load_local_settings().run_dir)
    for url in (run.queue_url, run.dead_letter_queue_url):
        messages = peek(run.endpoint, url, run.ca_bundle)
        say(f"{url}: {len(messages):,} messages")
        if show_messages:
            show(messages[:limit], as_json)
            if len(messages) > limit:
                say(f"… and {len(messages) - limit:,} more (--limit)")
