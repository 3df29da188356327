"""lab.html, one self-contained file."""

from pathlib import Path

from lab.measurement.record import LabResults
from lab.report import charts, outcomes, tables
from lab.report.published import PUBLISHED
from loadtest.report.page import render


def write(measured: LabResults, out: Path) -> None:
    """Writes `lab.html` to `out`."""
    specs = {}
    for study in measured.studies:
        specs[f"ratios_{study.name}"] = charts.ratios(study)
        specs[f"throughput_{study.name}"] = charts.throughput(study)
    values = {"studies": measured.studies, "published": PUBLISHED, "lab": outcomes, "tables": tables}
    text = render("page.html.j2", specs, package=__package__, **values)
    (out / "lab.html").write_text(text, encoding="utf-8")
