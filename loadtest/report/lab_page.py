"""lab.html, one self-contained file."""

from pathlib import Path

from loadtest.record.lab import Lab
from loadtest.report import lab, lab_charts, lab_tables, page
from loadtest.report.lab_published import PUBLISHED


def write(measured: Lab, out: Path) -> None:
    """Writes `lab.html` to `out`."""
    specs = {}
    for study in measured.studies:
        specs[f"ratios_{study.name}"] = lab_charts.ratios(study)
        specs[f"throughput_{study.name}"] = lab_charts.throughput(study)
    text = page.render("lab.html.j2", specs, studies=measured.studies, published=PUBLISHED, lab=lab, tables=lab_tables)
    (out / "lab.html").write_text(text)
