"""The generated parts of the documents: tables and pictures of the newest complete run of each kind."""

import os
from pathlib import Path

from loadtest.record.billing import BillingAudit
from loadtest.record.comparison import Comparison
from loadtest.record.folders import RESULTS, ROOT, UNPUBLISHED
from loadtest.record.shares import Shares
from loadtest.record.worker import WorkerBench
from loadtest.report import overview as overview_table
from loadtest.report import pictures, ratios, tables
from loadtest.report.captions import conditions, measured_by, of_inline, provenance, repeats
from loadtest.report.shares import table


class NotMeasured(ValueError):
    """There is no such run yet; the text has the command that makes one."""


def newest(kind: str) -> tuple[Comparison, Path]:
    """The last `history`, `calibrated` or `bench` on one commit that was no trial run. Raises NotMeasured."""
    runs = [(Comparison.model_validate_json(file.read_text(encoding="utf-8")), file.parent) for file in _whole(kind)]
    return max(runs, key=lambda run: run[0].environment.started)


def _whole(kind: str) -> list[Path]:
    whole = [file for file in RESULTS.glob(f"*/{kind}.json") if not file.parent.name.endswith(UNPUBLISHED)]
    if not whole:
        raise NotMeasured(f"loadtest/results: no {kind}.json of a complete run; `python -m loadtest {kind}` makes one")
    return whole


def picture(folder: Path, name: str, text: str, document: Path = ROOT / "loadtest", kind: str = "svg") -> str:
    """The picture for the reader's colour scheme; `document` is the folder of what shows it."""
    source = f"{relative(folder, document)}/{name}"
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{source}-dark.{kind}">'
        f'<img alt="{text}" src="{source}-light.{kind}"></picture>'
    )


def relative(folder: Path, document: Path) -> str:
    """The way to `folder` from the folder of a document."""
    return Path(os.path.relpath(folder, document)).as_posix()


def over_time() -> str:
    """CHANGELOG's picture of every webhook."""
    history, folder = newest("history")
    text = "Every webhook of the published attack, by release: when it was sent and how long its answer took"
    caption = f"*The picture:* {conditions(history)}. {of_inline(history)}".rstrip()
    return f"{picture(folder, 'over-time', text, ROOT, 'png')}\n\n{caption}"


def overview() -> str:
    """The first table of RESULTS.md, and which two runs it is from."""
    (history, _), (bench, _) = newest("history"), newest("bench")
    first, second = (measured_by(run.command, run.environment) for run in (bench, history))
    table = overview_table.overview(history, bench)
    return f"{table}\n\n*CPU and webhooks a second:* {first}. *The other columns:* {second}."


def published() -> str:
    """Returns two pictures of the published attack, throughput and latencies, and its table. Raises NotMeasured."""
    history, folder = newest("history")
    rates = picture(folder, "throughput", "Throughput of each release, published beside measured")
    shown = picture(folder, "latencies", "Latency of each release under the published attack, from fastest to slowest")
    return "\n\n".join([rates, tables.published(history), provenance(history), shown])


def calibrated() -> str:
    """The same in the published machine's time."""
    comparison, _ = newest("calibrated")
    return f"{tables.calibrated(comparison)}\n\n{provenance(comparison)}"


def saturated() -> str:
    """The closed loop on a quarter of a core."""
    history, folder = newest("history")
    shown = picture(folder, "cpu", "CPU for each webhook, by release")
    return f"{tables.saturated(history)}\n\n{conditions(history)}; {repeats(history)}.\n\n{shown}"


def sustained() -> str:
    """200/s for four minutes. Raises NotMeasured where the last history left it out."""
    history, _ = newest("history")
    if not history.names("sustained"):
        raise NotMeasured("the last history has no sustained attack: `python -m loadtest history --sustained` has one")
    return f"{tables.sustained(history)}\n\n{provenance(history, repeated=False)}"


def bench() -> str:
    """CPU of each release, the floor and Go."""
    comparison, _ = newest("bench")
    return f"{ratios.bench(comparison)}\n\n{provenance(comparison)}"


def shares() -> str:
    """Returns a table of the stages in which the CPU time of a webhook is spent, from the newest run."""
    runs = [Shares.model_validate_json(file.read_text(encoding="utf-8")) for file in _whole("shares")]
    last = max(runs, key=lambda run: run.environment.started)
    doubts = _doubtful(last.conditions.doubts if last.conditions else [])
    return f"{table(last)}\n\n{measured_by(last.command, last.environment)}, once; {last.samples:,} samples.{doubts}"


def billing() -> str:
    """Returns what `python -m loadtest billing` printed about thousands of events while workers were killed."""
    runs = [BillingAudit.model_validate_json(file.read_text(encoding="utf-8")) for file in _whole("billing")]
    last = max(runs, key=lambda run: run.environment.started)
    return f"```none\n{last.text()}\n```\n\n{measured_by(last.command, last.environment)}, once."


def worker() -> str:
    """A worker's CPU."""
    runs = [WorkerBench.model_validate_json(file.read_text(encoding="utf-8")) for file in _whole("worker")]
    last = max(runs, key=lambda run: run.environment.started)
    return (
        f"{last.table()}\n\n{measured_by(last.command, last.environment)}; {last.events:,} events,"
        f" {last.concurrency} at the same time, calls of Chargebee of {last.latency_ms:g} ms;"
        f" {len(last.runs)} repeats: median (interval).{_doubtful(last.doubts)}"
    )


def _doubtful(doubts: list[str]) -> str:
    """Returns the doubts as the last sentence of a caption; empty if there are none."""
    return f" DOUBTFUL: {'; '.join(doubts)}." if doubts else ""


def stale_pictures() -> list[str]:
    """Pictures that differ from a redraw of the newest history and the newest bench."""
    stale = pictures.stale(*newest("history")) + pictures.stale(*newest("bench"), pictures.write_capacity)
    return [str(file.relative_to(ROOT)) for file in stale]


def draw_pictures() -> None:
    """Draws the pictures of the newest history and the newest bench."""
    pictures.write(*newest("history"))
    pictures.write_capacity(*newest("bench"))
