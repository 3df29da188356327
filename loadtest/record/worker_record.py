"""The record of `python -m loadtest worker`: how much CPU time a worker needs for an event."""

from loadtest.record.comparison import Environment
from loadtest.record.price_estimate import estimate
from loadtest.record.shapes import Record


class WorkerRun(Record):
    """The figures of one worker.

    CPU time and rate are measured while the worker closes the middle eight tenths of its invoices. Charges and calls
    are counted for all invoices.
    """

    cpu_ms_per_event: float
    events_per_s: float
    charges_per_event: float
    calls_per_event: float
    peak_mib: float | None


class WorkerBench(Record):
    """The record. `latency_ms`: the latency of a call to Chargebee's stand-in.

    `cpus`: the CPU limit in cores, or None if it was not enforced. `how`: the mechanism of the limit.
    """

    environment: Environment
    command: str
    events: int
    cpus: float | None
    how: str
    concurrency: int
    latency_ms: float
    runs: list[WorkerRun]
    doubts: list[str]

    def table(self) -> str:
        """Returns a Markdown table: medians with their intervals, and the highest peak of memory."""
        peak = max((run.peak_mib for run in self.runs if run.peak_mib is not None), default=None)
        rows = {
            "CPU for each event": f"{estimate(run.cpu_ms_per_event for run in self.runs).text()} ms",
            "events a second": estimate(run.events_per_s for run in self.runs).text(),
            "charges for each event": estimate(run.charges_per_event for run in self.runs).text(".2f"),
            "calls of Chargebee for each event": estimate(run.calls_per_event for run in self.runs).text(".2f"),
            "memory at its peak": "–" if peak is None else f"{peak:.0f} MiB",
        }
        return "\n".join(["| | |", "| --- | ---: |", *(f"| {name} | {value} |" for name, value in rows.items())])
