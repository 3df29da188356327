"""Draws asgi-doctor's output as in a terminal: one SVG for each colour scheme.

    python -m profiles.doctor

Serves a small application with the doctor, sends it three requests, and presses Ctrl-C. Writes doctor-light.svg and
doctor-dark.svg.
"""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

import click
import httpx
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).parent
COLUMNS = 86
REQUESTS = 3
STOP_SECONDS = 30
PAY_SECONDS = 0.4
COMMAND = "asgi-doctor shop.main:app"
SHOP = """
    import os

    import httpx
    from fastapi import FastAPI

    app = FastAPI()
    url = os.environ["BANK"]


    @app.get("/pay")
    async def pay() -> dict[str, int]:
        answer = httpx.get(url)
        return {"bank": answer.status_code}
"""


class Theme(NamedTuple):
    """The colours of a terminal, which are those of GitHub's pages."""

    background: tuple[int, int, int]
    ink: tuple[int, int, int]
    removed: str
    added: str


THEMES = {
    "light": Theme((246, 248, 250), (31, 35, 40), "#cf222e", "#1a7f37"),
    "dark": Theme((21, 27, 35), (230, 237, 243), "#ff7b72", "#3fb950"),
}
# rich's template without its web fonts, because a picture on a page may not load fonts.
TEMPLATE = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, Liberation Mono, monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


class _Bank(BaseHTTPRequestHandler):
    """A slow service that the application calls."""

    def do_GET(self) -> None:
        time.sleep(PAY_SECONDS)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Logs nothing."""


@click.command(help=__doc__)
def main() -> None:
    with TemporaryDirectory() as folder, _bank() as url:
        (Path(folder) / "shop").mkdir()
        (Path(folder) / "shop" / "main.py").write_text(textwrap.dedent(SHOP).lstrip(), encoding="utf-8")
        output = _examined(Path(folder), url)
    for name, theme in THEMES.items():
        (HERE / f"doctor-{name}.svg").write_text(_drawn(output, theme), encoding="utf-8")
    click.echo("to open: profiles/doctor-light.svg profiles/doctor-dark.svg")


@contextmanager
def _bank() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Bank)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _examined(folder: Path, bank: str) -> str:
    """Runs the doctor on the application in `folder`. Returns the lines up to the doctor's URL, and the summary."""
    command = [sys.executable, "-m", "asgi_doctor", *COMMAND.split()[1:], "--port", "0", "--no-page"]
    environment = os.environ | {"PYTHONPATH": str(HERE.parent), "BANK": bank}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    ) as doctor:
        assert doctor.stdout is not None
        try:
            url, first = _served(doctor.stdout)
            for _ in range(REQUESTS):
                httpx.get(f"{url}/pay", timeout=STOP_SECONDS)
            doctor.send_signal(signal.SIGINT)
            rest, _ = doctor.communicate(timeout=STOP_SECONDS)
        finally:
            doctor.kill()
    return first.replace(url, "http://127.0.0.1:8000") + _shortened(rest)


def _shortened(output: str) -> str:
    """Returns the summary in `output`. Ellipses replace site-packages' path, and all calls but the first and last."""
    lines = output[output.index(f"{REQUESTS} requests") :].rstrip().splitlines()
    calls = [number for number, line in enumerate(lines) if line.lstrip().startswith("→")]
    lines[calls[1] : calls[-1]] = ["        …"]
    return re.sub(r"/\S+/site-packages/", "…/", "\n".join(["…", *lines]))


def _served(output: IO[str]) -> tuple[str, str]:
    """Returns the address at which the doctor serves the application, and the lines printed up to this address."""
    lines = ""
    for line in output:
        lines += line
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0], lines
    raise click.ClickException(f"asgi-doctor has served nothing:\n{lines}")


def _drawn(output: str, theme: Theme) -> str:
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    console.print(Text(f"$ {COMMAND}", style="bold"))
    text = Text(output)
    text.highlight_regex(r"(?m)^\S+\.py:\d+ in \w+.*$", "bold")
    text.highlight_regex(r"(?m)^ +- .*$", theme.removed)
    text.highlight_regex(r"(?m)^ +\+ .*$", theme.added)
    console.print(text)
    colours = TerminalTheme(theme.background, theme.ink, [theme.ink] * 8)
    return console.export_svg(title="", theme=colours, code_format=TEMPLATE, unique_id="doctor")


if __name__ == "__main__":
    main()
