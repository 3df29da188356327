"""Draws the course's timelines: `<name>.svg`, each with one release, or with two releases one below the other.

    python -m profiles.timelines [NAME …]

Queue, table and Chargebee delay each call by 0.1 s. There are two exceptions: in the picture of v04, the queue delays
each call by 0.5 s, and from v10 on, the queue has no delay. A picture shows which part of the service waits for which
other part. This is the same on any machine, but the times depend on the machine that has drawn the picture.
"""

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import click

from app.settings import Release, load_settings
from local import lessons
from local.compare import svg
from local.compare.recording import NONE, record

ROOT = Path(__file__).parents[1]


class Picture(NamedTuple):
    """A picture of `releases`, each of which gets `webhooks` webhooks at once. `variables`: environment variables."""

    releases: tuple[str, ...]
    webhooks: int = 20
    variables: Mapping[str, str] = NONE


TLS = {"APP_LOCAL_TLS": "1"}
PICTURES = {
    # By default, a release is drawn below the previous one, and the queue has no delay. Entries below override this.
    **{
        after.value: Picture((before.value, after.value), 50, {"APP_LOCAL_SQS_DELAY": "0"})
        for before, after in pairwise(Release)
    },
    "v01_inline": Picture(("v01",), 5),
    "v02_blocking": Picture(("v01", "v02"), 5),
    "v03_threadpool": Picture(("v02", "v03")),
    "v04_more_tokens": Picture(("v03", "v04"), 60, {"APP_LOCAL_SQS_DELAY": "0.5"}),
    "v05_async_dependency": Picture(("v04", "v05")),
    "v06_shared_queue": Picture(("v05", "v06")),
    "v07_sync_handler": Picture(("v06", "v07")),
    "v08_native_async": Picture(("v07", "v08")),
    "v09_group_commit": Picture(("v08", "v09"), 50),
    "ca_bundle": Picture(("v05", "v06"), 10, TLS),
    "connecting_at_once": Picture(("v07", "v08"), 40, TLS),
}


@click.command(help=__doc__)
@click.argument("names", nargs=-1, type=click.Choice(list(PICTURES)))
def main(names: tuple[str, ...]) -> None:
    with click.progressbar(names or list(PICTURES), label="Drawing", show_eta=False, item_show_func=str) as bar:
        doubts = {name: _draw(PICTURES[name], ROOT / "profiles" / f"{name}.svg") for name in bar}
    for name, found in doubts.items():
        for doubt in found:
            click.echo(f"DOUBTFUL: {name}: {doubt}")
    click.echo("to open in a browser: " + " ".join(f"profiles/{name}.svg" for name in names or PICTURES))


def _draw(picture: Picture, file: Path) -> list[str]:
    """Draws the picture into `file`. Returns the reasons to doubt the picture's times."""
    with patch.dict(
        os.environ, {"APP_LOCAL_SQS_DELAY": "0.1", "APP_LOCAL_CHARGEBEE_DELAY": "0.1", **picture.variables}
    ):
        settings = load_settings()
        releases = [lessons.find(name) for name in picture.releases]
        recorded = [record(release, settings, picture.webhooks) for release in releases]
    file.write_text(svg.draw(recorded), encoding="utf-8")
    return [f"{one.name}: {doubt}" for one in recorded for doubt in one.doubts]


if __name__ == "__main__":
    main()
