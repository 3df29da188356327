"""Takes pictures of the live page: releases under the same webhooks, and a race of two releases.

    python -m profiles.live [NAME …]

Starts real services, and presses the page's buttons in headless Chromium (Debian: apt install chromium).
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

import click
from playwright.sync_api import Browser, Page, sync_playwright

from local.readiness import wait_until_ready

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
WIDTH = 1200
STOP_SECONDS = 60
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


class Picture(NamedTuple):
    """A picture: the command that serves the live page, and the command's environment variables."""

    command: list[str]
    variables: dict[str, str]


def _alone(release: str) -> Picture:
    ports = dict.fromkeys(("APP_PORT", "APP_METRICS_PORT", "APP_LOCAL_LIVE_PORT"), "0")
    return Picture(["run"], ports | {"APP_RELEASE": release})


PICTURES = {
    "live_v02": _alone("v02_blocking"),
    "live_v04": _alone("v04_more_tokens"),
    "live_v09": _alone("v09_group_commit"),
    "live_race": Picture(["race", "v02", "v09"], {}),
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(PICTURES)))
def main(names: tuple[str, ...]) -> None:
    """Draw the pictures with these NAMES, or all, into profiles/."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in names or PICTURES:
            click.echo(f"{name} …", err=True)
            _take(browser, name, PICTURES[name])
        browser.close()


def _take(browser: Browser, name: str, picture: Picture) -> None:
    with served(picture) as url:
        page = browser.new_page(viewport={"width": WIDTH, "height": 800})
        page.goto(url)
        _press_all(page)
        _photograph(page, name)
        page.close()


def _press_all(page: Page) -> None:
    """Presses the buttons: 100 ms of latency, 20 webhooks at once, then 500 webhooks per second.

    With a slow release, some webhooks still wait when the picture is taken.
    """
    page.locator(".totals b").first.wait_for()
    press(page, "SQS slower by 100 ms", 2)
    press(page, "20 webhooks at once", 8)
    press(page, "500/s for 5 s", 12)


def press(page: Page, name: str, seconds: float) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_timeout(seconds * 1000)


def _photograph(page: Page, name: str) -> None:
    page.mouse.move(0, 0)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(700)  # until the page has drawn its next sample, at most 0.5 s later
        page.screenshot(path=HERE / f"{name}-{scheme}.png", full_page=True)


@contextmanager
def served(picture: Picture) -> Iterator[str]:
    """Runs the command of `picture` until the `with` block ends. Yields the address of the live page."""
    command = [sys.executable, "-m", "local", *picture.command]
    # The output goes into a file, because a pipe would fill if no process read it, and would then block the service.
    with (
        TemporaryDirectory() as folder,
        (Path(folder) / "log").open("w+", encoding="utf-8") as log,
        subprocess.Popen(
            command, env=_environment(picture, folder), stdout=log, stderr=log, start_new_session=True
        ) as process,
    ):
        try:
            yield wait_until_ready(process, partial(_announced, Path(log.name)), 60)
        except ChildProcessError as error:  # the process has ended, and `log` has the reason
            raise ChildProcessError(f"{error}:\n{Path(log.name).read_text(encoding='utf-8')}") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)  # Ctrl-C
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)


def _announced(log: Path) -> str | None:
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if "Live page on" in line]
    return ADDRESS.findall(lines[0])[-1] if lines else None


def _environment(picture: Picture, folder: str) -> dict[str, str]:
    return os.environ | picture.variables | {"APP_LOCAL_RUN_DIR": f"{folder}/run"}


if __name__ == "__main__":
    main()
