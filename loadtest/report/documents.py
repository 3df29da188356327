"""Generates parts of documents: tables and pictures of the newest complete measurement of each kind."""

import os
from pathlib import Path
from typing import TypeVar

from loadtest.record import folders, index
from loadtest.record.billing_record import BillingAudit
from loadtest.record.comparison import Comparison
from loadtest.record.folders import ROOT
from loadtest.record.index import Index
from loadtest.record.shapes import Record
from loadtest.record.worker_record import WorkerBench
from loadtest.report import overview as overview_table
from loadtest.report import pictures, ratios, tables
from loadtest.report.captions import conditions, measured_by, of_inline, provenance

Result = TypeVar("Result", bound=Record)


class NotMeasured(ValueError):
    """There is no result of the requested measurement. `str()` names the command that makes one."""


def newest(kind: str, known: Index | None = None) -> tuple[Comparison, Path]:
    """Returns the newest comparison of a kind, such as `bench`, and its folder. Raises NotMeasured if there is none."""
    return result(kind, Comparison, known), folder(kind, known)


def folder(part: str, known: Index | None = None) -> Path:
    """Returns the folder of the newest measurement of `part`. Raises NotMeasured if the index does not list `part`.

    `known`: the index, or None to read index.json.
    """
    entry = (known or index.read()).parts.get(part)
    if entry is None:
        raise NotMeasured(f"{part} is not measured: `python -m loadtest publish --only {part}` does it")
    return folders.RESULTS / entry.folder


def result(kind: str, record: type[Result], known: Index | None = None) -> Result:
    """Returns the newest result of a kind: a `record`, read from `<kind>.json`. Raises NotMeasured if there is none."""
    return record.model_validate_json((folder(kind, known) / f"{kind}.json").read_text(encoding="utf-8"))


def picture(folder: Path, name: str, text: str, document: Path = ROOT / "loadtest", kind: str = "svg") -> str:
    """Returns HTML that shows a picture in the reader's colour scheme. `document`: the folder of the document."""
    source = f"{relative(folder, document)}/{name}"
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{source}-dark.{kind}">'
        f'<img alt="{text}" src="{source}-light.{kind}"></picture>'
    )


def relative(folder: Path, document: Path) -> str:
    """Returns the path of `folder` relative to `document`, which is the folder of a document."""
    return Path(os.path.relpath(folder, document)).as_posix()


def over_time() -> str:
    """Returns CHANGELOG's picture of the published attack. Raises NotMeasured if `loadtest history` has no result."""
    history, folder = newest("history")
    text = "Every webhook of the published attack, by release: when it was sent and how long its answer took"
    caption = f"*The picture:* {conditions(history)}. {of_inline(history)}".rstrip()
    return f"{picture(folder, 'over-time', text, ROOT, 'png')}\n\n{caption}"


def overview() -> str:
    """Returns RESULTS.md's first table. Raises NotMeasured if `loadtest history` or `loadtest bench` has no result."""
    (history, _), (bench, _) = newest("history"), newest("bench")
    table = overview_table.overview(history, bench)
    duets = f"{provenance(bench)} {ratios.of_itself(bench)}"
    return f"{table}\n\n{duets} *Attack and memory:* {measured_by(history.command, history.environment)}."


def published() -> str:
    """Returns two pictures of the published attack. Raises NotMeasured if `loadtest history` has no result."""
    history, folder = newest("history")
    rates = picture(folder, "throughput", "Throughput of each release, published and measured")
    shown = picture(folder, "latencies", "Latency of each release under the published attack, from fastest to slowest")
    return "\n\n".join(
        [rates, shown, f"{measured_by(history.command, history.environment)}. {of_inline(history)}".rstrip()]
    )


def calibrated() -> str:
    """Returns the table of `python -m loadtest calibrated` with a caption. Raises NotMeasured if there is no result."""
    comparison, _ = newest("calibrated")
    return f"{tables.calibrated(comparison)}\n\n{provenance(comparison)}"


def python_bench() -> Comparison:
    """Returns the newest result of `bench --python` for the highest Python version.

    Raises NotMeasured if there is no result of `bench --python`.
    """
    prefix = "bench-against-Python-"
    versions = [name.removeprefix(prefix) for name in index.read().parts if name.startswith(prefix)]
    return newest(prefix + max(versions, key=lambda version: [*map(int, version.split("."))], default="3"))[0]


def billing() -> str:
    """Returns the output of the newest `python -m loadtest billing`. Raises NotMeasured if there is no result."""
    last = result("billing", BillingAudit)
    return f"```none\n{last.text()}\n```\n\n{measured_by(last.command, last.environment)}, once."


def newest_worker() -> WorkerBench:
    """Returns the newest result of `python -m loadtest worker`. Raises NotMeasured if there is none."""
    return result("worker", WorkerBench)


def worker() -> str:
    """Returns the table of `python -m loadtest worker` with a caption. Raises NotMeasured if there is no result."""
    last = newest_worker()
    return (
        f"{last.table()}\n\n{measured_by(last.command, last.environment)}; {last.events:,} events,"
        f" {last.concurrency} at the same time, calls of Chargebee of {last.latency_ms:g} ms;"
        f" {len(last.runs)} repeats: median (interval).{_doubtful(last.doubts)}"
    )


def _doubtful(doubts: list[str]) -> str:
    """Returns the doubts as the last sentence of a caption, or "" if there are none."""
    return f" DOUBTFUL: {'; '.join(doubts)}." if doubts else ""


def stale_pictures() -> list[str]:
    """Returns the pictures of the newest `history` and `bench` that are missing, or would change if drawn again."""
    stale = pictures.stale(*newest("history")) + pictures.stale(*newest("bench"), pictures.write_capacity)
    return [str(file.relative_to(ROOT)) for file in stale]


def draw_pictures() -> None:
    """Draws the pictures of the newest `history` and the newest `bench`."""
    pictures.write(*newest("history"))
    pictures.write_capacity(*newest("bench"))
