"""Returns figures of studies and questions, which documents quote in sentences: see `.ci/figures.py`."""

from lab.report import lab_documents
from lab.report.outcomes import outcomes, value
from loadtest.record.price_estimate import estimate, ratio

__all__ = ["asked", "asked_ratio", "case", "compared", "p50", "server"]


def compared(study: str, comparison: str) -> float:
    """Returns the measured ratio of a comparison. `comparison`: the id in published.json."""
    [found] = [one for one in outcomes(lab_documents.newest(study)[0]) if one.comparison.id == comparison]
    return found.measured.median


def case(study: str, name: str, metric: str, under: str = "") -> float:
    """Returns the median of `metric` (`rps`, `mean_ms` or `cpu_ms`) in the case `name`.

    If `under` is given, returns this median divided by the median in the case `under`.
    """
    found = estimate(value(row, metric) for row in lab_documents.newest(study)[0].of(name)).median
    return found / case(study, under, metric) if under else found


def p50(study: str, name: str) -> float:
    """Returns the median latency of a case, in seconds."""
    rows = lab_documents.newest(study)[0].of(name)
    return estimate(row.measurement.latencies.p50 for row in rows).median / 1000


def asked(question: str, name: str, figure: str) -> float:
    """Returns the median of `figure` in the question's case `name`."""
    return estimate(run.figures.get(figure) for run in lab_documents.newest_answer(question)[0].of(name)).median


def asked_ratio(question: str, over: str, under: str, figure: str) -> float:
    """Returns the median of the repeats' ratios: `figure` of the case `over` ÷ `figure` of the case `under`."""
    answer, _ = lab_documents.newest_answer(question)
    both = ([run.figures.get(figure) for run in answer.of(name)] for name in (over, under))
    return ratio(*both).median


def server(name: str, request: str) -> float:
    """Returns the CPU time of a request under the server `name` ÷ its CPU time under uvicorn, both with Python 3.11.

    `request`: `nothing` or `real`.
    """
    over, under = (f"{one}, Python 3.11, {request}" for one in (name, "uvicorn"))
    return asked_ratio("python_and_server", over, under, "CPU ms a request")
