"""Charts that show, for each release, one value and the interval of this value over the repeats."""

from typing import Any

import altair as alt

from loadtest.record.comparison import Comparison
from loadtest.record.price_estimate import estimate
from loadtest.report.charts import NUMBER, Spec, axis_of, plain
from loadtest.report.figures import METRICS, PUBLISHED, Scale, value_of

Row = dict[str, Any]


def against_published(comparison: Comparison, metric: str) -> Spec:
    """Returns a chart of `metric` in the published attack: published values, and measured medians with intervals.

    `metric`: a key of METRICS.
    """
    title, path, scale = METRICS[metric]
    rows: list[Row] = []
    for name in comparison.names("published"):
        if metric in PUBLISHED.get(name, {}):
            rows.append(_row(name, "published", [PUBLISHED[name][metric]]))
        rows.append(_row(name, "measured", [value_of(run, path) for run in comparison.of("published", name)]))
    sent = comparison.of("published", comparison.names("published")[0])[0].load.rate if metric == "rps" else None
    return _bars(rows, title, scale, sent)


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
    # Points instead of bars on a logarithmic axis, because it has no zero at which a bar could begin.
    marked = base.mark_bar() if scale == "linear" else base.mark_point(filled=True, size=90)
    values = marked.encode(
        y=alt.Y("value:Q", title=None, scale=alt.Scale(type=scale), axis=axis_of(scale)),
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
    return plain(alt.layer(*layers), title=title)
