"""Makes the table of PROOF.md: a row for each test in record.json, with the worst values of its runs, not rounded."""

import re
from collections.abc import Iterable

Row = dict[str, str]

# Matches the text of an attack.Report whose audit holds.
_REPORT = re.compile(
    r"(?P<success>[\d.]+)%, (?P<rate>[\d.]+)/s, p50 [\d,]+ ms, p99 (?P<p99>[\d,]+) ms, (?P<codes>[\d:, ]+);"
    r" audit: holds: (?P<accepted>[\d,]+) got 200, (?P<lost>[\d,]+) of them lost"
)
# Matches the variant at the beginning of a check, as in `v02_blocking: memory peak` or `burst: cpu quota`.
_VARIANT = re.compile(r"^(burst|capped|v\d\d_\w+): ")
_MAXIMA = ("restarts, failed probes", "memory peak", "memory peak after the start")
# Shortens messages of the cluster, and removes details, which the record still has.
_SHORT = {r"blocked for .*": "blocked", r"violates PodSecurity .*": "refused", r" \(at most [^)]*\)": ""}
# Checks that the table leaves out: the attack's report repeats them, or they are not figures to compare.
_IN_THE_RECORD_ONLY = (
    "audit",
    "deployments available",
    "invoices still open after it",
    "left in the queue by the audit",
    "the load outlasted it",
    "usage now",
)


def table(rows: list[Row]) -> str:
    """Returns a Markdown table. The last cell of a row has the failed checks in full."""
    lines = ["| section | checks | seen (of several runs: the worst) | holds |", "|---|---:|---|---|"]
    for test in _unique(_test(row) for row in rows):
        of_it = [row for row in rows if _test(row) == test]
        variants = ", ".join(_unique(row["section"].partition("[")[2].rstrip("]") for row in of_it))
        failed = [f"**NO**: {row['check']}: {row['seen']}" for row in of_it if row["holds"] != "yes"]
        seen = "; ".join(_seen([row for row in of_it if row["holds"] == "yes"]))
        cells = [
            f"{test}: {variants}" if variants else test,
            str(len(of_it)),
            seen,
            "; ".join(failed) or "yes",
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def where(rows: list[Row]) -> str:
    """Returns date, version of Kubernetes and commit. If runs differ in these, adds the sections of each run."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(f"{row['date'][:10]}, Kubernetes {row['kubernetes']}, `{row['commit']}`", []).append(
            _test(row)
        )
    if len(found) == 1:
        return f"{next(iter(found))}."
    return "; ".join(f"{', '.join(_unique(tests))}: {place}" for place, tests in found.items()) + "."


def _test(row: Row) -> str:
    return row["section"].partition("[")[0]


def _seen(rows: list[Row]) -> list[str]:
    """Returns a summary of all attacks, and then the values of every other check."""
    reports, checks = [], dict[str, list[str]]()
    for row in rows:
        report = _REPORT.search(row["seen"])
        if report:
            reports.append(report)
        # A text such as `2 → 4 pods; ` before a report is a separate figure. `0 of 9,000: ` only repeats the report.
        own, semicolon, _ = row["seen"][: report.start()].partition("; ") if report else (row["seen"], True, "")
        check = _VARIANT.sub("", row["check"])
        if semicolon and check not in _IN_THE_RECORD_ONLY:
            checks.setdefault(check, []).append(_shortened(own))
    by_value: dict[str, list[str]] = {}
    for check, seen in checks.items():
        value = _highest(seen) if check in _MAXIMA else " / ".join(_unique(seen))
        by_value.setdefault(value, []).append(check)
    others = (f"{', '.join(of)}: {value}" for value, of in by_value.items())
    return [*([_attacks(reports)] if reports else []), *others]


def _shortened(seen: str) -> str:
    for long, short in _SHORT.items():
        seen = re.sub(long, short, seen)
    return seen


def _attacks(reports: list[re.Match[str]]) -> str:
    """Summarises attacks: the lowest success and rate, the highest 99th percentile, and all requests together."""
    success, rate = (min((report[key] for report in reports), key=float) for key in ("success", "rate"))
    p99 = max((report["p99"] for report in reports), key=_count)
    requests = sum(_count(number) for report in reports for number in re.findall(r":([\d,]+)", report["codes"]))
    accepted, lost = (sum(_count(report[key]) for report in reports) for key in ("accepted", "lost"))
    return (
        f"{success}% success, {rate}/s, p99 {p99} ms; {requests - accepted:,} of {requests:,} without a 200,"
        f" {lost:,} of the others lost"
    )


def _highest(seen: list[str]) -> str:
    """Returns the text with the maximum of each number: `0, 7` and `1, 5` become `1, 7`."""
    columns = zip(*(re.findall(r"\d+", text) for text in seen), strict=True)
    highest = iter([max(column, key=int) for column in columns])
    return re.sub(r"\d+", lambda _: next(highest), seen[0])


def _count(text: str) -> int:
    return int(text.replace(",", ""))


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))
