"""README's table: one row per test of record.json. Of several runs, it shows the worst values, without rounding."""

import re
from collections.abc import Iterable

Row = dict[str, str]

# An attack.Report whose audit holds.
_REPORT = re.compile(
    r"(?P<success>[\d.]+)%, (?P<rate>[\d.]+)/s, p50 [\d,]+ ms, p99 (?P<p99>[\d,]+) ms, (?P<codes>[\d:, ]+);"
    r" audit: holds: (?P<accepted>[\d,]+) got 200, (?P<lost>[\d,]+) of them lost"
)
# A check's variant within a test: `v02_blocking: memory peak`, `burst: cpu quota`.
_VARIANT = re.compile(r"^(burst|capped|v\d\d_\w+): ")
_MAXIMA = ("restarts, failed probes", "memory peak", "memory peak after the start")
# Repeated in the attack's report (the audit), or not a figure to compare.
_IN_THE_RECORD_ONLY = ("audit", "the load outlasted it", "usage now")


def table(rows: list[Row]) -> str:
    """Returns a Markdown table. A check that does not hold is shown in full, beside the summary."""
    lines = ["| section | checks | seen (of several runs: the worst) | holds | date (UTC), Kubernetes, commit |"]
    lines.append("|---|---:|---|---|---|")
    for test in _unique(_test(row) for row in rows):
        of_it = [row for row in rows if _test(row) == test]
        variants = ", ".join(_unique(row["section"].partition("[")[2].rstrip("]") for row in of_it))
        measured = _unique(f"{row['date'][:10]}, {row['kubernetes']}, `{row['commit']}`" for row in of_it)
        failed = [f"**NO**: {row['check']}: {row['seen']}" for row in of_it if row["holds"] != "yes"]
        seen = "; ".join(_seen([row for row in of_it if row["holds"] == "yes"]))
        cells = [
            f"{test}: {variants}" if variants else test,
            str(len(of_it)),
            seen,
            "; ".join(failed) or "yes",
            ", ".join(measured),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def _test(row: Row) -> str:
    return row["section"].partition("[")[0]


def _seen(rows: list[Row]) -> list[str]:
    """Returns one summary of all attacks, and then each other check with its values."""
    reports, checks = [], dict[str, list[str]]()
    for row in rows:
        report = _REPORT.search(row["seen"])
        if report:
            reports.append(report)
        # Before a report, `2 → 4 pods; ` is a separate figure, `0 of 9,000: ` repeats the report.
        own, semicolon, _ = row["seen"][: report.start()].partition("; ") if report else (row["seen"], True, "")
        check = _VARIANT.sub("", row["check"])
        if semicolon and check not in _IN_THE_RECORD_ONLY:
            checks.setdefault(check, []).append(own)
    others = (
        f"{check}: {_highest(seen) if check in _MAXIMA else ' / '.join(_unique(seen))}"
        for check, seen in checks.items()
    )
    return [*([_attacks(reports)] if reports else []), *others]


def _attacks(reports: list[re.Match[str]]) -> str:
    """Summarises attacks: the lowest success and rate, the highest 99th percentile, and all requests together."""
    success, rate = (min((report[key] for report in reports), key=float) for key in ("success", "rate"))
    p99 = max((report["p99"] for report in reports), key=_count)
    requests = sum(_count(number) for report in reports for number in re.findall(r":([\d,]+)", report["codes"]))
    accepted, lost = (sum(_count(report[key]) for report in reports) for key in ("accepted", "lost"))
    return (
        f"{success}% success, {rate}/s, p99 {p99} ms; {requests - accepted:,} of {requests:,} requests without a 200,"
        f" {lost:,} of {accepted:,} acknowledged webhooks lost"
    )


def _highest(seen: list[str]) -> str:
    """Replaces each number by its maximum: `0, 7` and `1, 5` become `1, 7`."""
    columns = zip(*(re.findall(r"\d+", text) for text in seen), strict=True)
    highest = iter([max(column, key=int) for column in columns])
    return re.sub(r"\d+", lambda _: next(highest), seen[0])


def _count(text: str) -> int:
    return int(text.replace(",", ""))


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))
