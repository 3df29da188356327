"""Makes the charts of the lab's studies and questions in Vega-Lite, in the style of `loadtest.report.charts`."""

from math import floor, isfinite, isnan, log10
from typing import Any

import altair as alt

from lab.measurement.case_record import Study
from lab.measurement.expected_answers import Answer
from lab.measurement.questions import QUESTIONS
from lab.report.outcomes import outcomes
from lab.report.published import PUBLISHED
from loadtest.record.price_estimate import estimate
from loadtest.report.charts import MEASURED, NUMBER, Spec

STEP = 34  # height of a comparison or a case, in pixels
BOTH, ALONE = "Published and measured ratios.", "Measured ratios; nothing was published."
# Pixels to the left of the names. A reader's font may be wider than the font with which Vega computes the layout.
MARGIN = 40
SHORT_AXIS = 20  # a symlog axis that ends below this value is almost linear, so Vega's own ticks fit
FEW_TICKS = 6  # approximate number of Vega's own ticks; more ticks would touch each other at the ends of the axis


def ratios(study: Study) -> Spec:
    """Returns a study's chart: published and measured ratios, with intervals, on a logarithmic axis."""
    rows: list[dict[str, Any]] = []
    for outcome in outcomes(study):
        comparison, measured = outcome.comparison, outcome.measured
        if isnan(measured.median) or not isfinite(measured.high) or measured.low <= 0:
            continue
        shown = {"comparison": comparison.id, "claim": comparison.claim}
        if comparison.ratio is not None:
            known = dict.fromkeys(("value", "low", "high"), comparison.ratio)
            rows.append(shown | {"figure": "published"} | known)
        middle = {"value": measured.median, "low": measured.low, "high": measured.high}
        rows.append(shown | {"figure": "measured"} | middle)
    return _ratios(rows, PUBLISHED[study.name].title)


def _ratios(rows: list[dict[str, Any]], title: str) -> Spec:
    figures = ["published", "measured"]
    published = any(row["figure"] == "published" for row in rows)
    base = alt.Chart({"values": rows}).encode(
        y=alt.Y("comparison:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset("figure:N", sort=figures),
        color=alt.Color(
            "figure:N",
            scale=alt.Scale(domain=figures),
            legend=alt.Legend(orient="bottom", title=None) if published else None,
        ),
    )
    x = _scale(rows)
    one = alt.Chart({"values": [{"one": 1}]}).mark_rule(strokeDash=[4, 4]).encode(x=alt.X("one:Q", scale=x))
    layers = [
        one,
        base.mark_rule().encode(x=alt.X("low:Q", scale=x, title="ratio (log)"), x2="high:Q"),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            x=alt.X("value:Q", scale=x), tooltip=["claim:N", "figure:N", "value:Q", "low:Q", "high:Q"]
        ),
        base.mark_text(align="left", dx=7, fontSize=10).encode(
            x=alt.X("high:Q", scale=x), text=alt.Text("value:Q", format=NUMBER)
        ),
    ]
    return _plain(alt.layer(*layers), alt.Title(title, subtitle=BOTH if published else ALONE), rows)


def figure(answer: Answer) -> Spec:
    """Returns a question's chart: one figure in every case. The axis is logarithmic above 1, and includes 0."""
    question = QUESTIONS[answer.name]
    rows: list[dict[str, Any]] = []
    for case in answer.cases():
        found = [run.figures[question.figure] for run in answer.of(case) if question.figure in run.figures]
        if found:
            middle = estimate(found)
            rows.append({"case": case, "value": middle.median, "low": middle.low, "high": middle.high})
    room = 2 * max(row["high"] for row in rows)
    scale = alt.Scale(type="symlog", constant=1, nice=False, domain=[0, room])
    return _cases(
        rows, scale, f"{question.figure} (logarithmic, but linear below 1)", question.title, ticks=_ticks(room)
    )


def _ticks(room: float) -> list[int] | None:
    """Returns the ticks of an axis from 0 to `room`: 0 and the powers of ten. Returns None if Vega's own ticks fit.

    Vega's own ticks of a symlog axis have equal distances in value. On a long axis, they touch each other at the right
    end.
    """
    if room < SHORT_AXIS:
        return None
    return [0, *(10**power for power in range(floor(log10(room)) + 1))]


def _cases(rows: list[dict[str, Any]], x: alt.Scale, axis: str, title: str, ticks: list[int] | None = None) -> Spec:
    horizontal = alt.Axis(values=ticks) if ticks else alt.Axis(tickCount=FEW_TICKS)
    base = alt.Chart({"values": rows}).encode(y=alt.Y("case:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)))
    layers = [
        base.mark_rule().encode(x=alt.X("low:Q", scale=x, title=axis, axis=horizontal), x2="high:Q"),
        base.mark_point(filled=True, size=80, opacity=1, color=MEASURED).encode(
            x=alt.X("value:Q", scale=x), tooltip=["case:N", "value:Q", "low:Q", "high:Q"]
        ),
        base.mark_text(align="left", dx=7, fontSize=10).encode(
            x=alt.X("high:Q", scale=x), text=alt.Text("value:Q", format=NUMBER)
        ),
    ]
    return _plain(alt.layer(*layers), alt.Title(title), rows)


def _scale(rows: list[dict[str, Any]]) -> alt.Scale:
    """Returns a logarithmic scale with room for the values and the numbers beside them. For ratios, it includes 1."""
    ones = [1.0] if any("figure" in row for row in rows) else []
    low = min([*ones, *(row["low"] for row in rows)], default=1)
    high = max([*ones, *(row["high"] for row in rows)], default=1)
    room = max(1.1, (high / low) ** 0.12)
    return alt.Scale(type="log", nice=False, domain=[low / room**0.5, high * room])


def _plain(chart: alt.LayerChart | alt.FacetChart, title: alt.Title, rows: list[dict[str, Any]]) -> Spec:
    """Returns the chart's specification, as wide as its container. The theme is added when the chart is drawn."""
    lines = len({row.get("comparison", row.get("case")) for row in rows})
    sized = chart.properties(width="container", height=max(1, lines) * STEP, title=title)
    spec: Spec = sized.properties(padding={"left": MARGIN, "top": 5, "right": 5, "bottom": 5}).to_dict()
    spec.pop("config", None)
    return spec
