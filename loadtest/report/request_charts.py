"""Charts of every request: its time of sending, and its latency."""

import csv
import io
from typing import NamedTuple

import altair as alt

from loadtest.fire.vegeta import Hit
from loadtest.report.charts import ANSWERS, MEASURED, Spec, plain

PROBED, PROBE_FAILED = "/healthz", "/healthz without a 200"


class Deadline(NamedTuple):
    """A deadline that a chart shows as a horizontal line with a name."""

    seconds: float
    name: str


# (time of sending in s, latency in s, answer) of each request. The answer: a status, `none`, PROBED or PROBE_FAILED.
Requests = list[tuple[float, float, str]]
# These colours are legible on light and dark backgrounds.
COLOURS = {"503": "#8c8c8c", "200": MEASURED, "none": "#d55e00"}
# A failed probe has its own mark, because its latency is not a response time: a probe of a dead process fails at once.
_PROBE_MARKS = {PROBED: ("diamond", "#009e73"), PROBE_FAILED: ("cross", "#cc79a7")}


def over_time(hits: dict[str, list[Hit]]) -> Spec:
    """Returns a chart of every request in one repeat of each release: when it was sent, and its latency.

    The reader can select a release, zoom and pan.
    """
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
    return plain(points.add_params(chosen, zoom).transform_filter(chosen), height=320)


def side_by_side(
    attacks: dict[str, Requests], title: alt.Title, deadline: Deadline | None = None, *, one_axis: bool = True
) -> Spec:
    """Returns a chart with a panel for each attack. It shows when each request was sent, and its latency, in seconds.

    `one_axis`: all panels share one axis of latency, so that a reader can compare them.
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
    webhooks = points.transform_filter(f"datum.answer !== '{PROBED}' && datum.answer !== '{PROBE_FAILED}'")
    layers = [_probes(base, PROBED), webhooks, _probes(base, PROBE_FAILED)]
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


def _probes(base: alt.Chart, answer: str) -> alt.Chart:
    """Returns the marks of the probes whose answer is `answer`, which is PROBED or PROBE_FAILED."""
    shape, colour = _PROBE_MARKS[answer]
    marks = base.mark_point(shape=shape, size=45, strokeWidth=1.5, opacity=1, color=colour)
    drawn: alt.Chart = marks.encode(x="at:Q", y="latency:Q").transform_filter(f"datum.answer === '{answer}'")
    return drawn
