"""The charts as Vega-Lite, for the page and for the pictures in README and CHANGELOG."""

import csv
import io
from typing import Any, NamedTuple

import altair as alt

from loadtest.fire.vegeta import Hit
from loadtest.record.comparison import Comparison
from loadtest.record.estimate import estimate
from loadtest.report.figures import METRICS, PUBLISHED, Scale, middle, value_of

Spec = dict[str, Any]
Row = dict[str, Any]

PROBED = "/healthz"
PROBE = "#009e73"


class Deadline(NamedTuple):
    """A horizontal line, named."""

    seconds: float
    name: str


# (sent after, latency, answer) of each request; an answer is a status, `none`, or PROBED.
Requests = list[tuple[float, float, str]]

# In the order of the theme's colours; other statuses get the next ones.
MEASURED = "#0072b2"  # on light and dark
NUMBER = ".3~r"  # 0.686, 54, 439
# Of a logarithmic axis.
TICKS = [base * 10**power for power in range(-1, 5) for base in (1, 3)]
ANSWERS = alt.Scale(domain=["503", "200", "none"])
# The same on light and dark.
COLOURS = {"503": "#8c8c8c", "200": MEASURED, "none": "#d55e00"}


def against_published(comparison: Comparison, metric: str) -> Spec:
    """One metric of the published attack: published beside measured, with the interval of the repeats."""
    title, path, scale = METRICS[metric]
    rows: list[Row] = []
    for name in comparison.names("published"):
        if metric in PUBLISHED.get(name, {}):
            rows.append(_row(name, "published", [PUBLISHED[name][metric]]))
        rows.append(_row(name, "measured", [value_of(run, path) for run in comparison.of("published", name)]))
    sent = comparison.of("published", comparison.names("published")[0])[0].load.rate if metric == "rps" else None
    return _bars(rows, title, scale, sent)


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


def latencies(comparison: Comparison) -> Spec:
    """One row per release: from the fastest answer to the slowest, in bold the half between p50 and p99."""
    rows = [
        {"release": name, **run.latencies.model_dump()}
        for name in comparison.names("published")
        for run in [middle(comparison.of("published", name))]
    ]
    base = alt.Chart({"values": rows}).encode(y=alt.Y("release:N", title=None))
    x = alt.Scale(type="log", nice=False, domainMin=5)
    timeout = comparison.of("published", rows[0]["release"])[0].load.timeout_s
    end = alt.Chart({"values": [{"ms": 1000 * timeout, "text": f"time-out, {timeout:g} s"}]}).encode(x="ms:Q")
    layers = (
        base.mark_rule().encode(
            x=alt.X("fastest:Q", scale=x, axis=_axis("log"), title="latency, ms (log)"), x2="slowest:Q"
        ),
        base.mark_bar(height=9, color=MEASURED).encode(x=alt.X("p50:Q", scale=x), x2="p99:Q"),
        base.mark_tick(thickness=3, height=16, color=MEASURED).encode(x=alt.X("p50:Q", scale=x)),
        end.mark_rule(strokeDash=[4, 4]),
        end.mark_text(align="right", baseline="bottom", dx=-4, y=-2).encode(text="text:N"),
    )
    title = alt.Title(
        "Latency under the published attack",
        subtitle=["Thin: from the fastest to the slowest answer.", "Bold: from the median to the 99th percentile."],
    )
    return _plain(alt.layer(*layers), title=title)


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


def side_by_side(
    attacks: dict[str, Requests], title: alt.Title, deadline: Deadline | None = None, *, one_axis: bool = True
) -> Spec:
    """Every request of each attack, in a panel of its own: send time and latency, both in seconds.

    `one_axis` of latency for all of them, so that they can be compared; otherwise one each.
    """
    rows = [
        {"attack": name, "at": round(at, 2), "latency": round(latency, 3), "answer": answer}
        for name, requests in attacks.items()
        for at, latency, answer in requests
    ]
    base = alt.Chart()
    answers = [answer for answer in COLOURS if any(row["answer"] == answer for row in rows)]
    colours = alt.Scale(domain=answers, range=[COLOURS[answer] for answer in answers])
    points = base.mark_point(filled=True, size=7).encode(
        x=alt.X("at:Q", title="sent after, s"),
        y=alt.Y("latency:Q", title="latency, s"),
        color=alt.Color("answer:N", scale=colours, legend=alt.Legend(orient="bottom", title="answered")),
    )
    probes = base.mark_point(shape="diamond", size=45, strokeWidth=1.5, opacity=1, color=PROBE)
    layers = [
        probes.encode(x="at:Q", y="latency:Q").transform_filter(f"datum.answer === '{PROBED}'"),
        points.transform_filter(f"datum.answer !== '{PROBED}'"),
    ]
    if deadline is not None:
        once, y = base.transform_aggregate(rows="count()"), alt.datum(deadline.seconds)
        layers.append(once.mark_rule(strokeDash=[4, 4]).encode(y=y))
        words = once.mark_text(align="left", baseline="bottom", dx=3, dy=-2, text=deadline.name)
        layers.append(words.encode(x=alt.value(0), y=y))
    panels = alt.layer(*layers, data={"values": rows}).properties(width=280, height=170)
    header = alt.Header(labelFontSize=12, labelAnchor="start")
    faceted = panels.facet(facet=alt.Facet("attack:N", title=None, sort=list(attacks), header=header), columns=2)
    spec: Spec = faceted.properties(title=title).resolve_scale(y="shared" if one_axis else "independent").to_dict()
    spec.pop("config", None)
    return spec


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


def _bars(rows: list[Row], title: str, scale: Scale, sent: int | None = None) -> Spec:
    x, offset = alt.X("release:N", title=None, axis=alt.Axis(labelAngle=0)), alt.XOffset("figure:N", sort=["published"])
    figures = alt.Scale(domain=["published", "measured"])
    legend = alt.Legend(orient="bottom", title=None) if any(row["figure"] == "published" for row in rows) else None
    base = alt.Chart({"values": rows}).encode(x=x, xOffset=offset)
    # Points, not bars: a logarithmic axis has no zero to start a bar at.
    marked = base.mark_bar() if scale == "linear" else base.mark_point(filled=True, size=90)
    values = marked.encode(
        y=alt.Y("value:Q", title=None, scale=alt.Scale(type=scale), axis=_axis(scale)),
        color=alt.Color("figure:N", scale=figures, legend=legend),
        tooltip=["release:N", "change:N", "figure:N", "value:Q", "low:Q", "high:Q"],
    )
    intervals = base.mark_rule().encode(y="low:Q", y2="high:Q")
    numbers = base.mark_text(baseline="bottom", dy=-5, fontSize=10).encode(
        y="high:Q", text=alt.Text("value:Q", format=NUMBER), color=alt.Color("figure:N", scale=figures, legend=legend)
    )
    layers: list[alt.Chart] = [values, intervals, numbers]
    if sent is not None:
        line = alt.Chart({"values": [{"sent": sent, "text": f"sent: {sent}/s"}]}).encode(y="sent:Q")
        layers += [
            line.mark_rule(strokeDash=[4, 4]),
            line.mark_text(align="left", baseline="bottom", x=4, dy=-3).encode(text="text:N"),
        ]
    return _plain(alt.layer(*layers), title=title)


def _axis(scale: Scale) -> alt.Axis:
    return alt.Axis(values=TICKS) if scale == "log" else alt.Axis()


def _plain(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int = 240, **properties: Any) -> Spec:
    """Returns the chart's specification, as wide as its container. The theme is added when the chart is drawn."""
    spec: Spec = chart.properties(width="container", height=height, **properties).to_dict()
    spec.pop("config", None)
    return spec
