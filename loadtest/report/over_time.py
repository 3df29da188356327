"""Draws pictures of every request of one or more attacks: a dot at its time of sending and its latency.

The pictures are PNGs, because an SVG would take a hundred bytes for each of about ten thousand points.
"""

import json
from pathlib import Path

import altair as alt
import vl_convert

from loadtest.fire import vegeta
from loadtest.fire.vegeta import Hit
from loadtest.record import folders
from loadtest.record.comparison import Comparison
from loadtest.report import figures, request_charts, theme
from loadtest.report.charts import Spec
from loadtest.report.request_charts import Requests

SHARP = 2  # pixels of the picture for each pixel of the page


def requests(raw: Path) -> Requests:
    """Returns the webhooks of the attack whose raw results are in `raw`, and the probes during the attack."""
    probes = json.loads((raw / "probes.json").read_text(encoding="utf-8"))
    marks = {True: request_charts.PROBED, False: request_charts.PROBE_FAILED}
    return of(vegeta.hits(raw / "results.bin")) + [(at, latency, marks[answered]) for at, latency, answered in probes]


def of(hits: list[Hit]) -> Requests:
    return [(hit.at, hit.latency, str(hit.code or "none")) for hit in hits]


def hits(comparison: Comparison, out: Path) -> dict[str, list[Hit]]:
    """Returns every request of the published attack, by release, from the repeat with the median throughput.

    `out`: the folder that contains history.json and the raw results.
    """
    found = {}
    for name in comparison.names("published"):
        runs = comparison.of("published", name)
        repeat = runs.index(figures.middle(runs))
        found[name] = vegeta.hits(folders.raw(out / "history.json", "published", name, repeat) / "results.bin")
    return found


def history(hits: dict[str, list[Hit]]) -> Spec:
    """Returns the chart of every webhook of the published attack, with a panel for each release."""
    title = alt.Title(
        "Latency over time: 500 webhooks a second for 5 s (v01: for 2 s)",
        subtitle=[
            "Each dot is a webhook, at the time when it was sent. Each release has an axis of its own.",
            "Upper band: sent on a new connection, which waits to be accepted. Lower band: on one that was accepted.",
        ],
    )
    return request_charts.side_by_side(
        {name: of(of_release) for name, of_release in hits.items()}, title, one_axis=False
    )


def write(spec: Spec, out: Path, name: str) -> None:
    """Writes `<name>-<theme>.png` to `out` for each theme."""
    for kind in theme.THEMES:
        themed = json.dumps(spec | {"config": theme.config(kind)})
        (out / f"{name}-{kind}.png").write_bytes(vl_convert.vegalite_to_png(themed, scale=SHARP))
