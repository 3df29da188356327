"""One profile a release: `<release>.html` to click, `<release>.txt` to read.

    python -m profiles.make [RELEASE …]

Each release handles three webhooks, one after the other, on a queue with 0.1 s of latency; the third one's profile is
kept. Paths are made relative to the project and to its packages.
"""

import asyncio
import os
import sys
import sysconfig
import tempfile
from pathlib import Path

import click

from app.local.chargebee.sender import open_session, post
from app.local.sample_events import default_file, fresh_events
from app.local.service import start_service
from app.settings import Release, load_settings

ROOT = Path(__file__).parents[1]
RELEASES = tuple(release.value for release in Release)  # click.Choice of an enum takes its names
WEBHOOKS = 3
SQS_DELAY = "0.1"


@click.command(help=__doc__)
@click.argument("releases", nargs=-1, type=click.Choice(RELEASES))
def main(releases: tuple[str, ...]) -> None:
    with click.progressbar(releases or RELEASES, label="Profiling", item_show_func=str) as bar:
        for release in bar:
            profile = _profile(release)
            for ending in ("html", "txt"):
                (ROOT / "profiles" / f"{release}.{ending}").write_text(profile[ending])


def _profile(release: str) -> dict[str, str]:
    """The last webhook's profile, by ending."""
    os.environ |= {"APP_RELEASE": release, "APP_PROFILE": "1", "APP_LOCAL_SQS_DELAY": SQS_DELAY}
    with tempfile.TemporaryDirectory() as folder:
        with start_service(Path(folder)) as run:
            assert run.url is not None
            asyncio.run(_post(run.url))
        files = (Path(folder) / "profiles").glob(f"{WEBHOOKS}.*")
        return {file.name.partition(".")[2]: _relative(file.read_text()) for file in files}


async def _post(url: str) -> None:
    async with open_session(url, load_settings()) as client:
        for body in fresh_events(default_file().read_bytes(), WEBHOOKS):
            await post(client, body)


def _relative(text: str) -> str:
    """`text` without the folders of this machine."""
    for folder in (sysconfig.get_path("purelib"), str(ROOT), sysconfig.get_path("stdlib"), sys.base_prefix, sys.prefix):
        text = text.replace(f"{folder}/", "").replace(folder, ".")
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


if __name__ == "__main__":
    main()
