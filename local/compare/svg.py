"""Draws timelines one below the other in one SVG picture, with the same time scale, for light and dark screens."""

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from local.compare import compared_terminal
from local.compare.compared_rows import Group, groups
from local.compare.recording import Recording
from local.compare.state_spans import StateSpan
from local.compare.styles import STYLES
from profiles.instruments.functions import State

WIDTH, LABEL, MARGIN = 960, 110, 14
PLOT = WIDTH - LABEL - MARGIN
TITLE, GAP, AXIS, LEGEND = 34, 8, 26, 24
# The height of a row in pixels, by the title of the row's group. HEIGHT is for all groups not in HEIGHTS.
HEIGHTS = {"event loop": 20.0, "calls to SQS": 13.0}
HEIGHT = 6.5
# Widths in pixels: a span narrower than SMALLEST is not drawn, and a span narrower than TIPPED has no tooltip.
SMALLEST = 0.4
TIPPED = 8.0
TICKS = 5
_CLASSES = {state: state.name.lower() for state in State}


def draw(recorded: list[Recording]) -> str:
    """Returns an SVG document with the timelines of all recordings."""
    seconds = max(one.seconds for one in recorded)
    svg = Element("svg", xmlns="http://www.w3.org/2000/svg", width=str(WIDTH))
    _add(svg, "style", {}, _style())
    SubElement(svg, "rect", {"class": "paper", "width": "100%", "height": "100%"})
    y = _legend(svg, recorded)
    for one in recorded:
        y = _panel(svg, one, seconds, y)
    svg.set("height", f"{y:g}")
    svg.set("viewBox", f"0 0 {WIDTH} {y:g}")
    _add(svg, "title", {}, "Timelines of " + "; ".join(one.name for one in recorded))
    return tostring(svg, encoding="unicode") + "\n"


def _style() -> str:
    light = " ".join(f".{name}{{fill:{STYLES[state].light}}}" for state, name in _CLASSES.items())
    dark = " ".join(f".{name}{{fill:{STYLES[state].dark}}}" for state, name in _CLASSES.items())
    return (
        "text{font:12px system-ui,sans-serif;fill:#1f2328} .bold{font-weight:600} .quiet{fill:#59636e}"
        " .over{font-size:10px}"
        f" .paper{{fill:#fff}} .tick{{stroke:#d1d9e0}} {light}"
        " @media(prefers-color-scheme:dark){text{fill:#f0f6fc} .quiet{fill:#9198a1} .paper{fill:#0d1117}"
        f" .tick{{stroke:#3d444d}} {dark}}}"
    )


def _legend(svg: Element, recorded: list[Recording]) -> float:
    """Draws a legend of the states in the recordings. Returns the y coordinate of the legend's lower end."""
    shown = {span.state for one in recorded for group in groups(one) for row in group.rows for span in row}
    x, y = float(MARGIN), 12.0
    for state in STYLES:
        if state in shown:
            width = 30 + 7 * len(state.value)
            if x + width > WIDTH:
                x, y = float(MARGIN), y + LEGEND
            _rect(svg, (x, y, 12, 12), state)
            _text(svg, (x + 18, y + 10), state.value)
            x += width
    return y + LEGEND


def _panel(svg: Element, one: Recording, seconds: float, y: float) -> float:
    _text(svg, (MARGIN, y + 18), one.name, "bold")
    _text(svg, (MARGIN + 8 * len(one.name) + 12, y + 18), compared_terminal.summary(one), "quiet")
    y += TITLE
    top = y
    for group in groups(one):
        y = _group(svg, group, seconds, y) + GAP
    for tick, x in _ticks(seconds):
        SubElement(svg, "line", {"class": "tick", "x1": f"{x:g}", "x2": f"{x:g}", "y1": f"{top:g}", "y2": f"{y:g}"})
        _text(svg, (x, y + 14), tick, "quiet", "end" if x > WIDTH - 40 else "middle")
    return y + AXIS


def _group(svg: Element, group: Group, seconds: float, y: float) -> float:
    height = HEIGHTS.get(group.title, HEIGHT)
    _text(svg, (LABEL - 8, y + max(height, 11) - 2), group.title, anchor="end")
    for number, row in enumerate(group.rows):
        _row(svg, row, (y, height - 0.7), PLOT / seconds)
        if group.labels and row:
            x = LABEL + row[0].began / seconds * PLOT
            _text(svg, (x + 4, y + height - 3), group.labels[number], "over")
        y += height
    if group.left_out:
        _text(svg, (LABEL - 8, y), f"… {group.left_out} more", "quiet", "end")
    return y


def _row(svg: Element, row: list[StateSpan], place: tuple[float, float], scale: float) -> None:
    """Draws a row of spans on a background in the colour of IDLE.

    `place` is the y coordinate and the height of the row in pixels. `scale` is in pixels per second.
    """
    y, height = place
    if not row:
        return
    _rect(svg, (LABEL + row[0].began * scale, y, (row[-1].ended - row[0].began) * scale, height), State.IDLE)
    for span in row:
        width = (span.ended - span.began) * scale
        if span.state != State.IDLE and width >= SMALLEST:
            _rect(svg, (LABEL + span.began * scale, y, width, height), State(span.state), _tip(span))


def _ticks(seconds: float) -> Iterator[tuple[str, float]]:
    """Yields the label and the x coordinate of each tick on the time axis.

    The ticks are at time 0 and at no more than TICKS later times, which are multiples of a round number such as 50 ms.
    """
    least = 1000 * seconds / TICKS
    power = 10 ** math.floor(math.log10(least))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
    for number in range(int(1000 * seconds / step) + 1):
        yield f"{number * step:,.0f} ms", LABEL + number * step / 1000 / seconds * PLOT


def _tip(span: StateSpan) -> str:
    return f"{span.state}, {1000 * (span.ended - span.began):,.0f} ms"


def _rect(svg: Element, box: tuple[float, float, float, float], state: State, tip: str = "") -> None:
    """Draws a rectangle, with the tooltip `tip` if the rectangle is wide enough. `box` is x, y, width and height."""
    place = {name: f"{value:.1f}" for name, value in zip(("x", "y", "width", "height"), box, strict=True)}
    rect = SubElement(svg, "rect", {"class": _CLASSES[state]} | place)
    if tip and box[2] >= TIPPED:
        _add(rect, "title", {}, tip)


def _text(svg: Element, at: tuple[float, float], words: str, kind: str = "", anchor: str = "start") -> None:
    place = {"x": f"{at[0]:.1f}", "y": f"{at[1]:.1f}", "text-anchor": anchor}
    _add(svg, "text", place | ({"class": kind} if kind else {}), words)


def _add(parent: Element, tag: str, attributes: dict[str, str], words: str) -> None:
    element = SubElement(parent, tag, attributes)
    element.text = words
