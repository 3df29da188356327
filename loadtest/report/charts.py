"""The charts as Vega-Lite, for the page and for the pictures in README and CHANGELOG."""

import csv
import io
from typing import Any

import altair as alt

from loadtest.fire.vegeta import Hit
from loadtest.record.comparison import Comparison
from loadtest.record.estimate import estimate
from loadtest.report.figures import METRICS, PUBLISHED, Scale, middle, value_of

Spec = dict[str, Any]
Row = dict[str, Any]

# In the order of the theme's colours; other statuses get the next ones.
ANSWERS = alt.Scale(domain=["503", "200", "none"])


def against_published(comparison: Comparison, metric: str) -> Spec:
    """One metric of the published attack: published beside measured, with the interval of the repeats."""
    title, path, scale = METRICS[metric]
    rows: list[Row] = []
    for name in comparison.names("published"):
        if metric in PUBLISHED.get(name, {}):
            rows.append(_row(name, "published", [PUBLISHED[name][metric]]))
        rows.append(_row(name, "measured", [value_of(run, path) for run in comparison.of("published", name)]))
    return _bars(rows, title, scale)


def saturated(comparison: Comparison, path: str, title: str) -> Spec:
    """One value of the closed loop on a quarter of a core, with its interval."""
    names = comparison.names("saturated")
    rows = [_row(name, "measured", [value_of(run, path) for run in comparison.of("saturated", name)]) for name in names]
    return _bars(rows, title, "log")


def distribution(comparison: Comparison) -> Spec:
    """Latency by percentile under the published attack, on the logarithmic axis of HDR histograms."""
    rows = [
        {"release": name, "percentile": percentile, "one in": 100 / (100 - percentile), "ms": ms}
        for name in comparison.names("published")
        for percentile, ms in middle(comparison.of("published", name)).distribution
    ]
    ticks = "datum.value < 2 ? '0 %' : format(100 - 100 / datum.value, '.7~g') + ' %'"
    x = alt.X("one in:Q", scale=alt.Scale(type="log"), axis=alt.Axis(labelExpr=ticks, values=[1, 2, 10, 100, 1000]))
    chart = alt.Chart({"values": rows}).mark_line(strokeWidth=2)
    return _plain(
        chart.encode(
            x=x.title("of the requests were answered within …"),
            y=alt.Y("ms:Q", scale=alt.Scale(type="log"), title="latency, ms"),
            color=alt.Color("release:O", legend=alt.Legend(columns=2, orient="bottom", title=None)),
            tooltip=["release:N", "percentile:Q", "ms:Q"],
        )
    )


def over_time(hits: dict[str, list[Hit]]) -> Spec:
    """Every request of one repeat: send time and latency. The release can be selected; zoom and pan."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["release", "s", "ms", "answer"])
    for name, of_release in hits.items():
        rows.writerows((name, round(hit.at, 3), round(hit.latency * 1000, 1), hit.code or "none") for hit in of_release)
    chosen = alt.selection_point(
        fields=["release"],
        value=next(iter(hits)),
        bind=alt.binding_select(options=list(hits), name="release: "),
        name="release",
    )
    legend = alt.Legend(orient="bottom", title="answered")
    chart = alt.Chart({"values": text.getvalue(), "format": {"type": "csv", "parse": {"answer": "string"}}})
    points = chart.mark_point(filled=True, size=14, opacity=0.6).encode(
        x=alt.X("s:Q", title="sent after, s"),
        y=alt.Y("ms:Q", title="latency, ms"),
        color=alt.Color("answer:N", scale=ANSWERS, legend=legend),
        shape=alt.Shape("answer:N", scale=ANSWERS, legend=legend),
        tooltip=["s:Q", "ms:Q", "answer:N"],
    )
    zoom = alt.selection_interval(bind="scales", name="zoom")
    return _plain(points.add_params(chosen, zoom).transform_filter(chosen), height=320)


def failures(comparison: Comparison) -> Spec:
    """Responses to the published attack by status, as percentages of the requests."""
    rows = [
        {"release": name, "answer": "none" if code == "0" else code, "per cent": 100 * count / run.requests}
        for name in comparison.names("published")
        for run in [middle(comparison.of("published", name))]
        for code, count in run.statuses.items()
    ]
    chart = alt.Chart({"values": rows}).mark_bar()
    return _plain(
        chart.encode(
            y=alt.Y("release:N", title=None),
            x=alt.X("per cent:Q", title="per cent of the requests"),
            color=alt.Color("answer:N", scale=ANSWERS, legend=alt.Legend(orient="bottom", title="answered")),
            tooltip=["release:N", "answer:N", alt.Tooltip("per cent:Q", format=".2f")],
        )
    )


def _row(name: str, source: str, values: list[float | None]) -> Row:
    between = estimate(values)
    release, _, change = name.partition("_")
    return {
        "release": release,
        "change": change.replace("_", " "),
        "figure": source,
        "value": between.median,
        "low": between.low,
        "high": between.high,
    }


def _bars(rows: list[Row], title: str, scale: Scale) -> Spec:
    x, offset = alt.X("release:N", title=None, axis=alt.Axis(labelAngle=0)), alt.XOffset("figure:N", sort=["published"])
    figures = alt.Scale(domain=["published", "measured"])
    legend = alt.Legend(orient="bottom", title=None) if any(row["figure"] == "published" for row in rows) else None
    base = alt.Chart({"values": rows}).encode(x=x, xOffset=offset)
    # Points, not bars: a logarithmic axis has no zero to start a bar at.
    marked = base.mark_bar() if scale == "linear" else base.mark_point(filled=True, size=90)
    values = marked.encode(
        y=alt.Y("value:Q", title=None, scale=alt.Scale(type=scale)),
        color=alt.Color("figure:N", scale=figures, legend=legend),
        tooltip=["release:N", "change:N", "figure:N", "value:Q", "low:Q", "high:Q"],
    )
    intervals = base.mark_rule().encode(y="low:Q", y2="high:Q")
    return _plain(alt.layer(values, intervals), title=title)


def _plain(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int = 240, **properties: Any) -> Spec:
    """As wide as its container; the theme is added when it is drawn."""
    spec: Spec = chart.properties(width="container", height=height, **properties).to_dict()
    spec.pop("config", None)
    return spec
