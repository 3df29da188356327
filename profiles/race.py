"""Makes an animated picture of a race: the live page with v02 beside the newest release, under the same webhooks.

    python -m profiles.race

Writes race-light.webp and race-dark.webp. Also writes the last frame of each, for readers who prefer no motion.
"""

import io

import click
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from app.settings import NEWEST
from profiles.live import CHROMIUM, HERE, SCHEMES, Picture, press, served

WIDTH, HEIGHT = 860, 630  # about the width of a README's column, so that the text stays legible
SECONDS, FRAME = 14.0, 0.5
MOST_BYTES = 2 * 1024 * 1024


@click.command()
def main() -> None:
    """Draw the animated picture in both colour schemes, into profiles/. This takes a minute."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme in SCHEMES:
            click.echo(f"race-{scheme} …", err=True)
            with served(Picture(["race", "v02", NEWEST.value], {})) as url:
                frames = _film(browser, url, scheme)
            _write(frames, scheme)
        browser.close()


def _film(browser: Browser, url: str, scheme: str) -> list[Image.Image]:
    """Presses the buttons as `profiles.live` does, and photographs the page every FRAME seconds."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(url)
    page.locator(".totals b").first.wait_for()
    press(page, "SQS slower by 100 ms", 2)
    frames = [_frame(page)]
    press(page, "20 webhooks at once", 2)
    frames.append(_frame(page))
    press(page, "500/s for 5 s", 0)
    for _ in range(int(SECONDS / FRAME)):
        frames.append(_frame(page))
        page.wait_for_timeout(1000 * FRAME)
    page.close()
    return frames


def _frame(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def _write(frames: list[Image.Image], scheme: str) -> None:
    """Writes the frames as an animated WebP, which shows the last frame for 3 s. Also writes this frame as a still.

    Raises SystemExit if the animated file has more than MOST_BYTES bytes.
    """
    durations = [round(1000 * FRAME)] * (len(frames) - 1) + [3000]
    file = HERE / f"race-{scheme}.webp"
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=70, method=6)
    frames[-1].save(HERE / f"race-still-{scheme}.webp", quality=80, method=6)
    if file.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{file.name} has {file.stat().st_size:,} bytes, more than {MOST_BYTES:,}")
    click.echo(f"{file.name}: {file.stat().st_size:,} bytes, {len(frames)} frames", err=True)


if __name__ == "__main__":
    main()
