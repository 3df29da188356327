"""The chart of webhooks per second on a quarter of a core, from one run of `bench`.

It shows the releases, the peers (the same work in other languages) and the floor (uvicorn alone).
"""

from typing import Any

import altair as alt

from app.settings import Release
from loadtest.duet import AGAIN
from loadtest.record.comparison import Comparison
from loadtest.record.price_estimate import estimate
from loadtest.report.figures import value_of

TITLE = "Webhooks a second with 200, on a quarter of a core (logarithmic)"
NAMES = {
    "go": "Go",
    "go_group_commit": "Go, group commit",
    "go_lean": "Go, lean",
    "rust": "Rust",
    "rust_group_commit": "Rust, group commit",
    "node": "Node",
    "node_group_commit": "Node, group commit",
    "asgi_noop": "floor (does nothing)",
}
# These colours are legible on light and dark backgrounds.
_KINDS = alt.Scale(domain=["release", "peer", "floor"], range=["#0072b2", "#e69f00", "#8c8c8c"])


def rates(comparison: Comparison) -> dict[str, list[float | None]]:
    """Returns each program's throughput in each repeat, by name. Releases come first, then peers, then the floor."""
    found: dict[str, list[float | None]] = {}
    for kind in dict.fromkeys(run.kind for run in comparison.runs):
        name = kind.removesuffix(f" {AGAIN}")
        if " " not in name:  # leaves out `… observed`, the newest release with telemetry on
            found[name] = [value_of(run, "rps") for run in comparison.of(kind, kind)]
    return dict(sorted(found.items(), key=lambda row: (list(NAMES).index(row[0]) if row[0] in NAMES else -1, row[0])))


def chart(comparison: Comparison) -> dict[str, Any]:
    """Returns the chart as a Vega-Lite specification: for each program, a point, its interval and its value as text."""
    rows = [_row(name, values) for name, values in rates(comparison).items()]
    base = alt.Chart({"values": rows}).encode(
        y=alt.Y("subject:N", title=None, sort=[row["subject"] for row in rows], axis=alt.Axis(labelLimit=260))
    )
    colour = alt.Color("kind:N", scale=_KINDS, legend=None)
    x = alt.X(
        "value:Q",
        title=TITLE,
        scale=alt.Scale(type="log", domain=[0.5, 10_000], nice=False),
        axis=alt.Axis(values=[1, 10, 100, 1000, 10_000]),
    )
    number = alt.Text("value:Q", format=",.3~r")
    layers = (
        base.mark_rule().encode(x="low:Q", x2="high:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(x=x, color=colour),
        base.mark_text(align="left", dx=9, fontSize=11).encode(x="high:Q", text=number),
    )
    spec: dict[str, Any] = alt.layer(*layers).properties(width="container", height={"step": 22}).to_dict()
    spec.pop("config", None)
    return spec


def _row(name: str, values: list[float | None]) -> dict[str, Any]:
    between = estimate(values)
    kind = "floor" if name == "asgi_noop" else "peer" if name in NAMES else "release"
    return {
        "subject": f"{name} (bills)" if name == Release.V01_INLINE else NAMES.get(name, name),
        "kind": kind,
        "value": between.median,
        "low": between.low,
        "high": between.high,
    }
