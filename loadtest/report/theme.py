"""Light and dark themes with colours for colour-blind readers (Okabe and Ito; viridis for ordered values)."""

from typing import Any

_SEQUENCE = {
    # viridis without the colours that are too similar to the background
    "light": ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#8db600", "#b58900"],
    "dark": ["#b18cff", "#8a8fe8", "#6aa9e0", "#45c0c8", "#3fd0a4", "#7ad65f", "#c4df3a", "#fde725"],
}
# The colours of categories, in this order: published, measured, failed.
_PAIR = {"light": ["#6e7781", "#0072b2", "#d55e00"], "dark": ["#a8b0b8", "#56b4e9", "#e69f00"]}
_INK = {"light": ("#1f2328", "#d8dee4"), "dark": ("#e6edf3", "#3d444d")}
THEMES = tuple(_INK)


def config(theme: str) -> dict[str, Any]:
    """Returns Vega-Lite's `config` for the theme `light` or `dark`."""
    ink, grid = _INK[theme]
    words = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12}
    return {
        "background": "transparent",
        # vl-convert, which draws pictures, contains Liberation Sans. The widths of other fonts depend on the machine.
        "font": "system-ui, Liberation Sans, sans-serif",
        "view": {"stroke": None},
        "axis": {**words, "gridColor": grid, "domainColor": grid, "tickColor": grid, "titleFontWeight": "normal"},
        "legend": words,
        "title": {"color": ink, "subtitleColor": ink, "fontSize": 14, "anchor": "start"},
        "rule": {"color": ink},
        "text": {"color": ink},
        "header": {"labelColor": ink, "titleColor": ink},
        "range": {"category": _PAIR[theme], "ordinal": _SEQUENCE[theme]},
    }
