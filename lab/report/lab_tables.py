"""Makes the Markdown tables of the lab's studies."""

from collections import Counter
from math import isnan

from lab.measurement.case_record import CaseRepeat, Study
from lab.report.outcomes import ComparisonOutcome, Verdict, outcomes, threads, value
from lab.report.published import PUBLISHED
from loadtest.record.price_estimate import MedianEstimate, estimate
from loadtest.report.cells import label, markdown, milliseconds
from loadtest.report.tables import NOT_YET

# If at least this share of all cores is used, the machine is full, and figures are lower bounds of what the lab can do.
FULL = 0.9
VERDICTS: dict[Verdict, str] = {
    "reproduced": "reproduced",
    "stronger": "stronger",
    "weaker": "weaker",
    "unclear": "no clear difference",
    "different": "not equal",
    "opposite": "the opposite",
}


def study(study: Study) -> str:
    """Returns all tables of a study as text for a terminal."""
    heading = f"{study.name}: {PUBLISHED[study.name].title}"
    return "\n\n".join(filter(None, [heading, comparisons(study), reasons(study), rows(study)]))


def comparisons(study: Study, main: bool = False) -> str:
    """Returns a table with the published ratio, the measured ratio and the verdict of each comparison.

    If `main` is True, the table has only the main comparisons.
    """
    shown = [outcome for outcome in outcomes(study) if outcome.comparison.main or not main]
    return markdown(["", "published", "measured", "verdict"], [_compared(outcome) for outcome in shown])


def _compared(outcome: ComparisonOutcome) -> list[str]:
    comparison = outcome.comparison
    what = {"rps": "", "mean_ms": "", "threads": "", "cpu_ms": " (CPU a request)"}[comparison.metric]
    claimed = {"more": "> 1", "less": "< 1", "same": "1", None: "–"}[comparison.claimed]
    published = claimed if comparison.ratio is None else _times(comparison.ratio)
    verdict = VERDICTS[outcome.verdict] if outcome.verdict else "–"
    return [f"{comparison.claim}{what}", published, _interval(outcome.measured), verdict]


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"  # noqa: PLR2004  # three digits


def _interval(between: MedianEstimate) -> str:
    if isnan(between.median):
        return NOT_YET
    return between.text(".2f" if between.median < 10 else ".0f")  # noqa: PLR2004  # three digits


def reasons(study: Study) -> str:
    """Returns the reasons why ratios were not reproduced: one line for each reason, with all of its comparisons."""
    claims: dict[str, list[str]] = {}
    for outcome in outcomes(study):
        if outcome.reason:
            claims.setdefault(outcome.reason, []).append(outcome.comparison.claim)
    return "\n".join(f"- {'; '.join(of)}: {reason}" for reason, of in claims.items())


def verdicts(studies: list[tuple[Study, str]]) -> str:
    """Returns a table with the number of comparisons for each study (rows) and verdict (columns).

    `studies`: each study with the address of its page.
    """
    counted = [Counter(outcome.verdict for outcome in outcomes(study)) for study, _ in studies]
    found = [verdict for verdict in VERDICTS if any(of[verdict] for of in counted)]
    rows = [
        [f"[{PUBLISHED[study.name].title}]({page}#{study.name})", *(str(of[verdict] or "–") for verdict in found)]
        for (study, page), of in zip(studies, counted, strict=True)
    ]
    return markdown(["every case", *(VERDICTS[verdict] for verdict in found)], rows)


HEAD = [
    "",
    "200s a second",
    "CPU a 200",
    "mean",
    "p50",
    "p95",
    "p99",
    "other answers",
    "threads",
    "lab's cores",
    "all cores",
]


def rows(study: Study) -> str:
    """Returns a table of every case, with medians. Throughput, threads and the lab's cores also have intervals."""
    return markdown(HEAD, [_case(name, study.of(name)) for name in study.names()])


def _case(name: str, repeats: list[CaseRepeat]) -> list[str]:
    measured = [row.measurement for row in repeats]
    rps = estimate(one.rps for one in measured)
    times = [estimate(getattr(one.latencies, key) for one in measured) for key in ("mean", "p50", "p95", "p99")]
    seen = estimate(map(threads, repeats))
    return [
        label(name, measured),
        rps.text(".1f" if rps.median < 100 else ",.0f"),  # noqa: PLR2004  # three digits
        _cpu(estimate(value(row, "cpu_ms") for row in repeats)),
        *(milliseconds(time.median) for time in times),
        _others(repeats),
        seen.text(".0f"),
        estimate(_lab_cores(row) for row in repeats).text(".2f"),
        _machine(repeats),
    ]


def _cpu(milliseconds: MedianEstimate) -> str:
    return "–" if isnan(milliseconds.median) else f"{milliseconds.median:.2f} ms"


def _others(repeats: list[CaseRepeat]) -> str:
    """Returns the number of answers with each status other than 200, in the repeat with the median rate.

    `none` counts requests without an answer in time, and requests whose connection was refused or closed.
    """
    statuses = sorted(repeats, key=lambda row: row.measurement.rps)[len(repeats) // 2].measurement.statuses
    others = {code: number for code, number in sorted(statuses.items()) if code != "200"}
    return ", ".join(f"{'none' if code == '0' else code}: {number:,}" for code, number in others.items()) or "–"


def _lab_cores(row: CaseRepeat) -> float | None:
    return row.cores.lab if row.cores else None


def _machine(repeats: list[CaseRepeat]) -> str:
    """Returns how many cores the lab, load generator, upstream, database and load test used together."""
    cores = [row.cores for row in repeats if row.cores]
    if not cores:
        return "–"
    used = estimate(one.used for one in cores).median
    return f"{used:.1f} of {cores[0].of}" + (": machine full" if used >= FULL * cores[0].of else "")
