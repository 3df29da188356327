"""The charts of report.html and of the pictures in loadtest/RESULTS.md, as specifications in Vega-Lite."""

from typing import Any

import altair as alt

from loadtest.record.comparison import Comparison
from loadtest.report.figures import Scale, middle

Spec = dict[str, Any]

MEASURED = "#0072b2"  # legible on light and dark backgrounds
NUMBER = ".3~r"  # at most three significant digits: 0.686, 54, 439
# The ticks of a logarithmic axis.
TICKS = [base * 10**power for power in range(-1, 5) for base in (1, 3)]
# These answers get the theme's first colours, in this order. Other statuses get the next colours.
ANSWERS = alt.Scale(domain=["503", "200", "none"])


def distribution(comparison: Comparison) -> Spec:
    """Returns a chart of the published attack's latency by percentile, on HDR histograms' logarithmic axis."""
    rows = [
        {"release": name, "percentile": percentile, "one in": 100 / (100 - percentile), "ms": ms}
        for name in comparison.names("published")
        for percentile, ms in middle(comparison.of("published", name)).distribution
    ]
    ticks = "datum.value < 2 ? '0 %' : format(100 - 100 / datum.value, '.7~g') + ' %'"
    x = alt.X("one in:Q", scale=alt.Scale(type="log"), axis=alt.Axis(labelExpr=ticks, values=[1, 2, 10, 100, 1000]))
    chart = alt.Chart({"values": rows}).mark_line(strokeWidth=2)
    return plain(
        chart.encode(
            x=x.title("of the requests were answered within …"),
            y=alt.Y("ms:Q", scale=alt.Scale(type="log"), title="latency, ms"),
            color=alt.Color("release:O", legend=alt.Legend(columns=2, orient="bottom", title=None)),
            tooltip=["release:N", "percentile:Q", "ms:Q"],
        )
    )


def latencies(comparison: Comparison) -> Spec:
    """Returns a chart: for each release, a line from the fastest to the slowest response, bold from p50 to p99."""
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
            x=alt.X("fastest:Q", scale=x, axis=axis_of("log"), title="latency, ms (log)"), x2="slowest:Q"
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
    return plain(alt.layer(*layers), title=title)


def failures(comparison: Comparison) -> Spec:
    """Returns a chart of the responses to the published attack by status, as percentages of the requests."""
    rows = [
        {"release": name, "answer": "none" if code == "0" else code, "per cent": 100 * count / run.requests}
        for name in comparison.names("published")
        for run in [middle(comparison.of("published", name))]
        for code, count in run.statuses.items()
    ]
    chart = alt.Chart({"values": rows}).mark_bar()
    return plain(
        chart.encode(
            y=alt.Y("release:N", title=None),
            x=alt.X("per cent:Q", title="per cent of the requests"),
            color=alt.Color("answer:N", scale=ANSWERS, legend=alt.Legend(orient="bottom", title="answered")),
            tooltip=["release:N", "answer:N", alt.Tooltip("per cent:Q", format=".2f")],
        )
    )


def axis_of(scale: Scale) -> alt.Axis:
    """Returns the axis of a scale. A logarithmic axis has ticks at 1, 3, 10, 30 …"""
    return alt.Axis(values=TICKS) if scale == "log" else alt.Axis()


def plain(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int = 240, **properties: Any) -> Spec:
    """Returns the chart as a specification, without the colours of `theme`. The chart is as wide as its container."""
    spec: Spec = chart.properties(width="container", height=height, **properties).to_dict()
    spec.pop("config", None)
    return spec
