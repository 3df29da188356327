"""Draws a profile as an icicle graph: each frame as wide as its share of the time, below the frame that called it."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from pyinstrument.frame import Frame

from profiles import shapes

WIDTH, HEIGHT, MARGIN = 1160, 17, 10
TOP = 44
LETTER = 6.1  # average width of a letter in pixels
SMALLEST = 1.5  # least width in pixels: narrower frames are not drawn
LEAST_LETTERS = 5
# An outermost frame is left out if one child has at least this share of the frame's time. The calls from the server to
# the handler are such frames, and they are the same in all releases.
STEM = 0.97
# A frame's CSS class and legend, by the beginning of its file's path. Only the first entry of a class has a legend.
KINDS = {
    "app/": ("ours", "this project"),
    "fastapi/": ("framework", "FastAPI, Starlette, uvicorn, AnyIO"),
    "starlette/": ("framework", ""),
    "uvicorn/": ("framework", ""),
    "anyio/": ("framework", ""),
    "botocore/": ("client", "clients of AWS and Chargebee"),
    "aiobotocore/": ("client", ""),
    "boto3/": ("client", ""),
    "aioboto3/": ("client", ""),
    "aiohttp/": ("client", ""),
    "urllib3/": ("client", ""),
    "chargebee/": ("client", ""),
    "httpx/": ("client", ""),
    "httpcore/": ("client", ""),
}
OTHER = ("library", "Python's library, and other packages")
AWAIT = ("await", "awaiting")
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#1f2328} .bold{font-size:14px;font-weight:600} .paper{fill:#fff}"
    " .ours{fill:#8ec7f0} .framework{fill:#d5d9de} .client{fill:#f2c572} .library{fill:#ece7dc} .await{fill:#e3f3e6}"
    " @media(prefers-color-scheme:dark){text{fill:#f0f6fc} .paper{fill:#0d1117} .ours{fill:#1f5f94}"
    " .framework{fill:#3a4149} .client{fill:#8a6212} .library{fill:#4a463c} .await{fill:#27452e}}"
)


def without_stem(root: Frame) -> Frame:
    """Returns the outermost frame whose heaviest child has less than STEM of the frame's time.

    If the webhook only waits, the returned frame is pyinstrument's frame for waiting.
    """
    while (heaviest := max(root.children, key=lambda child: child.time, default=None)) is not None:
        if heaviest.time < STEM * root.time:
            break
        root = heaviest
    return root


def is_wait(frame: Frame) -> bool:
    return frame.function == "[await]"


def draw(title: str, root: Frame, webhooks: int) -> str:
    """Returns an SVG document of `root` and the frames below it. Shows each frame's time divided by `webhooks`."""
    svg = shapes.document(WIDTH, title, STYLE)
    shapes.text(svg, (MARGIN, 18), title, "bold")
    _legend(svg)
    scale = (WIDTH - 2 * MARGIN) / root.time
    depth = 0
    for frame, x, level in _frames(root, MARGIN, 0, scale):
        words = f"{frame.function} {1000 * frame.time / webhooks:,.2f} ms"
        _draw(svg, frame, words, (x, TOP + level * HEIGHT, frame.time * scale))
        depth = max(depth, level)
    return shapes.finished(svg, TOP + (depth + 1) * HEIGHT + MARGIN)


def _frames(frame: Frame, x: float, level: int, scale: float) -> Iterator[tuple[Frame, float, int]]:
    """Yields `frame` and the frames below it that are wide enough, each with its x coordinate and its level."""
    yield frame, x, level
    for child in sorted(frame.children, key=lambda child: -child.time):
        if child.time * scale >= SMALLEST and child.function != "[self]":
            yield from _frames(child, x, level + 1, scale)
        x += child.time * scale


def _draw(svg: Element, frame: Frame, words: str, place: tuple[float, float, float]) -> None:
    """Draws a frame; `place` is x, y and width."""
    x, y, width = place
    box = (x, y, max(width - 0.5, 1), HEIGHT - 1)
    shapes.rect(svg, _kind(frame)[0], box, f"{words}, {frame.file_path_short}")
    room = int((width - 6) / LETTER)
    shown = words if len(words) <= room else frame.function.rpartition(".")[2]
    if room >= LEAST_LETTERS:
        shown = shown if len(shown) <= room else f"{shown[: room - 1]}…"
        shapes.text(svg, (x + 3, y + 12), shown)


def _kind(frame: Frame) -> tuple[str, str]:
    if is_wait(frame):
        return AWAIT
    path = frame.file_path_short or ""
    return next((kind for start, kind in KINDS.items() if path.startswith(start)), OTHER)


def _legend(svg: Element) -> None:
    x = float(MARGIN)
    for kind, words in (*KINDS.values(), OTHER, AWAIT):
        if words:
            shapes.rect(svg, kind, (x, 26, 11, 11))
            shapes.text(svg, (x + 16, 36), words)
            x += 40 + LETTER * len(words)
