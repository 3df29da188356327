"""Writes report.html, one self-contained file."""

import json
import re
from functools import cache
from pathlib import Path

import vl_convert
from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape
from markdown_it import MarkdownIt
from markupsafe import Markup

from loadtest.fire.vegeta import Hit
from loadtest.record.comparison import Comparison
from loadtest.report import bar_charts, captions, charts, figures, request_charts, tables, theme
from loadtest.report.charts import Spec


def write(comparison: Comparison, hits: dict[str, list[Hit]], out: Path) -> None:
    """Writes `report.html` to the folder `out`. `hits`: every request, by release: see `over_time.hits`."""
    bars = {f"published_{metric}": bar_charts.against_published(comparison, metric) for metric in figures.METRICS}
    details = {
        "over_time": request_charts.over_time(hits),
        "latencies": charts.latencies(comparison),
        "distribution": charts.distribution(comparison),
        "failures": charts.failures(comparison),
    }
    (out / "report.html").write_text(_page(comparison, bars | details), encoding="utf-8")


def _page(comparison: Comparison, specs: dict[str, Spec]) -> str:
    return render(
        "page.html.j2",
        specs,
        comparison=comparison,
        tables=tables,
        errors=_errors(comparison),
        queue=captions.behind(comparison).get("queue", ""),
        inline=captions.of_inline(comparison),
    )


def render(template: str, specs: dict[str, Spec], package: str = __package__, **values: object) -> str:
    """Renders a template of `package`. The browser draws the charts in light or dark colours, as the reader prefers.

    `specs`: the chart for each element, by the element's id. `values`: further variables of the template.
    """
    loader = ChoiceLoader([PackageLoader(package, "."), PackageLoader(__package__, ".")])
    pages = Environment(loader=loader, autoescape=select_autoescape(default=True))
    embedded = {
        "libraries": _libraries() if specs else "",
        "specs": json.dumps(specs),
        "themes": json.dumps({kind: theme.config(kind) for kind in theme.THEMES}),
    }
    return pages.get_template(template).render(
        html_table=_html,
        # `</script` is the only sequence that could end the <script> element early.
        **{name: Markup(text.replace("</script", "<\\/script")) for name, text in embedded.items()},  # noqa: S704
        **values,
    )


@cache
def _libraries() -> str:
    """Returns the JavaScript of Vega and its dependencies. The result is cached, because bundling takes seconds."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


def _html(table: str) -> Markup:
    """Returns one of our Markdown tables as HTML."""
    return Markup(MarkdownIt("js-default").render(table))  # noqa: S704  # MarkdownIt escapes the contents


def _errors(comparison: Comparison) -> list[str]:
    """Returns vegeta's errors without duplicates: status lines of error responses, and reasons for missing responses.

    Removes the address from each error, because the address differs between attacks.
    """
    errors = [error for run in comparison.runs for error in run.measurement.errors]
    return sorted({re.sub(r'^\w+ "[^"]*": ', "", error) for error in errors})
