"""Makes a profile of each release as `<release>.txt`, and as `<release>.flame.svg` unless it shows only a wait.

    python -m profiles.make [RELEASE …]

Each release handles twenty webhooks, one after the other, on a queue that speaks TLS and delays each call by 0.1 s.
v01 has no queue. Instead, its DynamoDB table (with TLS) and its Chargebee API (without TLS) delay each call.
The profile covers all webhooks except the first, for which the release also resolves names and connects. Paths are
made relative to the project and to its packages.
"""

import asyncio
import os
import sys
import sysconfig
import tempfile
from functools import reduce
from pathlib import Path

import click
from pyinstrument.frame import SELF_TIME_FRAME_IDENTIFIER, Frame
from pyinstrument.processors import aggregate_repeated_calls
from pyinstrument.session import Session

from app.settings import Release, load_settings
from local.chargebee.sender import open_session, post
from local.launch import no_rate_limit, start_service
from local.sample_events import default_file, fresh_events
from local.seeding import seed
from profiles import flame
from profiles.instruments import PROFILE
from profiles.instruments.functions import WEBHOOK
from profiles.instruments.profiler import CALLBACK_INTERVAL_SECONDS, RENDERERS, SESSION

ROOT = Path(__file__).parents[1]
RELEASES = tuple(release.value for release in Release)  # click.Choice(Release) would offer the names, not the values
WEBHOOKS = 20
SQS_DELAY = "0.1"
CALLBACKS = f"a webhook and its call to SQS, sampled every {1000 * CALLBACK_INTERVAL_SECONDS:g} ms"


@click.command(help=__doc__)
@click.argument("releases", nargs=-1, type=click.Choice(RELEASES))
def main(releases: tuple[str, ...]) -> None:
    with click.progressbar(releases or RELEASES, label="Profiling", show_eta=False, item_show_func=str) as bar:
        for release in bar:
            profile = _profile(release)
            (ROOT / "profiles" / f"{release}.flame.svg").unlink(missing_ok=True)
            for ending, text in profile.items():
                (ROOT / "profiles" / f"{release}.{ending}").write_text(_relative(text), encoding="utf-8")


def _profile(release: str) -> dict[str, str]:
    """Returns the profile of all webhooks except the first as "txt", and as "flame.svg" unless it shows only a wait."""
    os.environ |= {"APP_RELEASE": release, "APP_LOCAL_TLS": "1"}
    os.environ |= {"APP_LOCAL_SQS_DELAY": SQS_DELAY, "APP_LOCAL_CHARGEBEE_DELAY": SQS_DELAY}
    bodies = list(fresh_events(default_file().read_bytes(), WEBHOOKS))
    with tempfile.TemporaryDirectory() as folder:
        profiles = Path(folder) / "profiles"
        variables = {PROFILE: str(profiles), **no_rate_limit()}
        with start_service(Path(folder), variables) as run:
            assert run.url is not None
            if not Release(release).enqueues:
                seed(run, bodies)
            asyncio.run(_post(run.url, bodies))
        sessions = [Session.load(profiles / f"{n}.{SESSION}") for n in range(2, WEBHOOKS + 1)]
    together = reduce(Session.combine, sessions)
    texts = {"txt": RENDERERS["txt"].render(together)}
    requests = _requests(together)
    shown = "a webhook" if _holds_requests(requests) else CALLBACKS
    top = flame.without_stem(requests)
    if not flame.is_wait(top):
        texts["flame.svg"] = flame.draw(f"{release}: the event loop's time for {shown}", top, len(sessions))
    return texts


def _requests(session: Session) -> Frame:
    """Returns one frame for all requests together, without the frames of the server and the event loop above them."""
    frame = aggregate_repeated_calls(session.root_frame(trim_stem=False), {})
    assert frame is not None
    if not _holds_requests(frame):
        return _callbacks(frame)
    while WEBHOOK.plain not in frame.function:
        frame = max(frame.children, key=lambda child: (_holds_requests(child), child.time))
    return frame


def _callbacks(frame: Frame) -> Frame:
    """Returns the frame whose children are the event loop's callbacks, for a release whose webhooks have no task.

    Removes the time in which the event loop was idle.
    """
    while len(frame.children) == 1:
        frame = frame.children[0]
    for child in frame.children:
        if child.identifier == SELF_TIME_FRAME_IDENTIFIER:
            child.remove_from_parent()  # type: ignore[no-untyped-call]
            frame.time -= child.time
    return frame


def _holds_requests(frame: Frame) -> bool:
    return WEBHOOK.plain in frame.function or any(map(_holds_requests, frame.children))


async def _post(url: str, bodies: list[bytes]) -> None:
    async with open_session(url, load_settings()) as client:
        for body in bodies:
            await post(client, body)


def _relative(text: str) -> str:
    """Returns `text` with paths relative to the project, its packages, or Python's folder."""
    for folder in (sysconfig.get_path("purelib"), str(ROOT), sysconfig.get_path("stdlib"), sys.base_prefix, sys.prefix):
        text = text.replace(f"{folder}/", "").replace(folder, ".")
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


if __name__ == "__main__":
    main()
