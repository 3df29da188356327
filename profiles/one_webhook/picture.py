"""Draws the stages of one webhook under several releases, each stage as wide as its number of Python calls."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from profiles import shapes
from profiles.instruments.functions import Stage
from profiles.one_webhook.counter import Trace
from profiles.one_webhook.stages import calls_by_stage

WIDTH, MARGIN = 620, 14
PLOT = WIDTH - 2 * MARGIN
BAR, NAME, ROW, LINE = 34, 24, 84, 24  # heights in pixels: a bar, the line above it, a release, a line of the table
DIGIT = 9.0  # width of a digit in pixels
COLUMN = 74
# A release with less than this share of the largest number of calls is drawn a second time, with a larger scale.
SMALL = 0.5
# Colours for light and for dark screens. Numbers on these colours have the usual colour of text.
COLOURS = {
    Stage.READ: ("#9fd3f2", "#1f5f94"),
    Stage.ROUTE: ("#f3b6a0", "#93402a"),
    Stage.GATE: ("#f5d06f", "#7a5a00"),
    Stage.VALIDATE: ("#8fd6b5", "#12694b"),
    Stage.MESSAGE: ("#f7ef8a", "#66610f"),
    Stage.SQS: ("#d5d9de", "#4a525c"),
    Stage.ANSWER: ("#e0b3d3", "#7d3f6b"),
    Stage.RECORD: ("#c9b8a6", "#5c4a38"),
}
Counts = Mapping[Stage, int]


def draw(traces: Mapping[str, Trace]) -> str:
    """Returns an SVG document: a row for each release, and a table of the stages, which is also the legend."""
    counts = {release: calls_by_stage(trace) for release, trace in traces.items()}
    svg = shapes.document(WIDTH, "Python calls for one webhook", _style())
    shapes.text(svg, (MARGIN, 24), "One webhook: its Python calls, stage by stage", "title")
    y = 36.0
    for release, trace in traces.items():
        _row(svg, release, _totals(counts[release], trace), y)
        _bar(svg, counts[release], _most(counts), y + NAME)
        shapes.text(svg, (MARGIN, y + NAME + BAR + 15), _tasks(trace), "quiet")
        y += ROW
    small = {release: each for release, each in counts.items() if _total(each) < SMALL * _most(counts)}
    if small:
        y = _enlarged(svg, small, _most(counts) / _most(small), y)
    y = _table(svg, counts, y + 10)
    shapes.text(
        svg, (MARGIN, y + 6), "One webhook, alone. Under load, up to ten webhooks share a call to SQS in", "quiet"
    )
    shapes.text(svg, (MARGIN, y + 22), "v09 and later. An await counts if it suspends a task.", "quiet")
    return shapes.finished(svg, y + 34)


def _style() -> str:
    light, dark = (
        " ".join(f".{stage.name.lower()}{{fill:{colours[scheme]}}}" for stage, colours in COLOURS.items())
        for scheme in (0, 1)
    )
    return (
        "text{font:15px system-ui,sans-serif;fill:#1f2328} .bold{font-weight:600}"
        " .title{font-size:18px;font-weight:600}"
        f" .quiet{{font-size:13px;fill:#59636e}} .paper{{fill:#fff}} {light}"
        " @media(prefers-color-scheme:dark){text{fill:#f0f6fc} .quiet{fill:#9198a1} .paper{fill:#0d1117}"
        f" {dark}}}"
    )


def _row(svg: Element, release: str, totals: str, y: float) -> None:
    shapes.text(svg, (MARGIN, y + 17), release, "bold")
    shapes.text(svg, (WIDTH - MARGIN, y + 17), totals, "bold", "end")


def _bar(svg: Element, counts: Counts, most: int, y: float) -> None:
    """Draws the stages of a release side by side, in a scale in which `most` calls are as wide as the picture."""
    x = float(MARGIN)
    for stage, calls in counts.items():
        width = calls / most * PLOT
        shapes.rect(svg, stage.name.lower(), (x, y, max(width - 1, 0.5), BAR), f"{stage}: {calls:,} calls")
        if width > DIGIT * len(f"{calls:,}") + 4:
            shapes.text(svg, (x + width / 2, y + BAR / 2 + 5), f"{calls:,}", anchor="middle")
        x += width


def _enlarged(svg: Element, small: Mapping[str, Counts], factor: float, y: float) -> float:
    """Draws the releases with few calls again, `factor` times as wide. Returns the y coordinate of the lower end."""
    shapes.text(svg, (MARGIN, y + 17), f"The same, {factor:.1f} times as wide:", "quiet")
    y += NAME + 4
    for release, counts in small.items():
        shapes.text(svg, (MARGIN, y + 15), release, "bold")
        _bar(svg, counts, _most(small), y + NAME)
        y += NAME + BAR + 8
    return y


def _table(svg: Element, counts: Mapping[str, Counts], y: float) -> float:
    """Draws the number of calls in each stage. Returns the y coordinate of the lower end."""
    columns = [WIDTH - MARGIN - COLUMN * place for place in range(len(counts) - 1, -1, -1)]
    shapes.text(svg, (MARGIN, y + 15), "Python calls", "bold")
    for x, release in zip(columns, counts, strict=True):
        shapes.text(svg, (x, y + 15), release.partition("_")[0], "bold", "end")
    for stage in Stage:
        y += LINE
        shapes.rect(svg, stage.name.lower(), (MARGIN, y + 2, 16, 16))
        shapes.text(svg, (MARGIN + 26, y + 15), stage)
        for x, each in zip(columns, counts.values(), strict=True):
            shapes.text(svg, (x, y + 15), f"{each.get(stage, 0):,}", anchor="end")
    return y + LINE + 8


def _totals(counts: Counts, trace: Trace) -> str:
    numbers = {"call": _total(counts), "await": len(trace.awaits), "task": len(trace.tasks)}
    return ", ".join(f"{number:,} {word}{'' if number == 1 else 's'}" for word, number in numbers.items())


def _tasks(trace: Trace) -> str:
    return "tasks: " + ", ".join(task.coroutine for task in trace.tasks)


def _total(counts: Counts) -> int:
    return sum(counts.values())


def _most(counts: Mapping[str, Counts]) -> int:
    return max(map(_total, counts.values()))
