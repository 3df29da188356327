"""Draws requests.svg: every request of one attack, with its time of sending and its latency.

This module does not use Altair, because the load generator is installed without Altair. A dot is drawn as a line of
length 0 with round ends, which takes only ten bytes of SVG.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from loadtest.fire import vegeta
from loadtest.record.shapes import Measurement

_WIDTH, _HEIGHT = 640, 300  # lengths of the axes in pixels
_LEFT, _TOP, _RIGHT, _BOTTOM = 60, 70, 20, 70
_TICKS = 6  # the maximum number of ticks of an axis
# Colours that colour-blind readers can distinguish (Okabe and Ito).
_SUCCESS, _FAILURE, _NO_ANSWER, _PROBE, _FAILED_PROBE = "#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7"
_PROBED, _PROBE_FAILED = "probe", "failed probe"


class _Axis(NamedTuple):
    """An axis of seconds, with a tick every `step` seconds.

    `ticks`: the number of ticks, without the tick at 0. `scale`: pixels per second.
    """

    step: float
    ticks: int
    scale: float


def write(measured: Measurement, out: Path) -> None:
    """Writes `requests.svg` to `out`, the folder with the raw results."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for hit in vegeta.hits(out / "results.bin"):
        found[str(hit.code or "no answer")].append((hit.at, hit.latency))
    for at, latency, answered in json.loads((out / "probes.json").read_text(encoding="utf-8")):
        found[_PROBED if answered else _PROBE_FAILED].append((at, latency))
    (out / "requests.svg").write_text("\n".join(_svg(measured, found)) + "\n", encoding="utf-8")


def _svg(measured: Measurement, found: dict[str, list[tuple[float, float]]]) -> Iterator[str]:
    width, height = _LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BOTTOM
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    yield ' font-family="system-ui, sans-serif" font-size="12" fill="#1f2328">'
    yield '<rect width="100%" height="100%" fill="white"/>'
    yield f'<text x="{_LEFT}" y="24" font-size="14" font-weight="bold">{escape(_title(measured))}</text>'
    yield f'<text x="{_LEFT}" y="44">Each dot is a request: when it was sent, and the seconds until its answer.</text>'
    points = [point for some in found.values() for point in some]
    x_axis, y_axis = _axis(max(at for at, _ in points), _WIDTH), _axis(max(taken for _, taken in points), _HEIGHT)
    yield from _axes(x_axis, y_axis)
    for number, answer in enumerate(sorted(found)):
        colour, thin = _colour(answer), answer in {_PROBED, _PROBE_FAILED}
        path = "".join(_mark(answer, at * x_axis.scale, taken * y_axis.scale) for at, taken in found[answer])
        style = f'fill="none" stroke="{colour}" stroke-linecap="round" stroke-width="{1.5 if thin else 3}"'
        yield f'<path {style} d="{path}"/>'
        x, y = _LEFT + 120 * number, height - 16
        yield f'<circle cx="{x}" cy="{y - 4}" r="5" fill="{colour}"/><text x="{x + 10}" y="{y}">{answer}</text>'
    yield "</svg>"


def _title(measured: Measurement) -> str:
    load = measured.load
    sent = f"{load.users} users" if load.users else f"{load.rate} a second"
    return f"{measured.request or 'Webhooks'}: {sent} for {load.duration_s:g} s ({measured.name})"


def _axis(most: float, pixels: int) -> _Axis:
    """Returns an axis up to at least `most` seconds. Its step is 1, 2, 2.5 or 5 times a power of ten."""
    steps = (base * 10.0**power for power in range(-4, 5) for base in (1, 2, 2.5, 5))
    step = next(step for step in steps if step * _TICKS >= most)
    ticks = max(1, math.ceil(most / step))
    return _Axis(step, ticks, pixels / (ticks * step))


def _axes(x: _Axis, y: _Axis) -> Iterator[str]:
    bottom, right = _TOP + _HEIGHT, _LEFT + _WIDTH
    for tick in range(x.ticks + 1):
        at = _LEFT + tick * x.step * x.scale
        yield f'<path stroke="#d8dee4" d="M{at:.1f} {_TOP}V{bottom}"/>'
        yield f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{tick * x.step:g}</text>'
    for tick in range(y.ticks + 1):
        at = bottom - tick * y.step * y.scale
        yield f'<path stroke="#d8dee4" d="M{_LEFT} {at:.1f}H{right}"/>'
        yield f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{tick * y.step:g}</text>'
    yield f'<text x="{_LEFT}" y="{_TOP - 10}">latency, s</text>'
    yield f'<text x="{right}" y="{bottom + 36}" text-anchor="end">sent after, s</text>'


def _mark(answer: str, x: float, y: float) -> str:
    """Returns an SVG path: a dot for a request, a diamond for a health probe, a cross for a failed probe."""
    shape = {_PROBED: "m0-4l4 4l-4 4l-4-4z", _PROBE_FAILED: "m-3-3l6 6m0-6l-6 6"}.get(answer, "h0")
    return f"M{_LEFT + x:.1f} {_TOP + _HEIGHT - y:.1f}{shape}"


def _colour(answer: str) -> str:
    named = {"no answer": _NO_ANSWER, _PROBED: _PROBE, _PROBE_FAILED: _FAILED_PROBE}
    return named.get(answer, _SUCCESS if answer.startswith("2") else _FAILURE)
