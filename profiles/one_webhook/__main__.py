"""Counts Python calls, awaits and tasks of one webhook under v08, v10 and the two newest releases, and draws them.

    python -m profiles.one_webhook

Writes profiles/one_webhook.svg. Starts the real service with the embedded queue. The counts depend on the versions of
Python and of the packages, not on the machine.
"""

from pathlib import Path

import click

from app.settings import Release
from profiles.one_webhook import picture
from profiles.one_webhook.run import trace

FILE = Path(__file__).parents[1] / "one_webhook.svg"
RELEASES = (Release.V08_NATIVE_ASYNC, Release.V10_LEAN_CLIENT, *list(Release)[-2:])


@click.command(help=__doc__)
def main() -> None:
    with click.progressbar(RELEASES, label="Tracing", show_eta=False, item_show_func=str) as bar:
        traces = {release.value: trace(release) for release in bar}
    FILE.write_text(picture.draw(traces), encoding="utf-8")
    click.echo("to open in a browser: profiles/one_webhook.svg")


if __name__ == "__main__":
    main()
