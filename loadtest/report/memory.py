"""The service's memory under faults of SQS, as text."""

from loadtest.record.memory import LIMIT_MIB, Memory, Mode
from loadtest.report.cells import markdown


def text(memory: Memory) -> str:
    """A row for each fault."""
    about = f"{memory.release}, {memory.users} users, {memory.seconds:g} s for each fault:"
    return f"{about}\n\n{markdown(['fault of SQS', 'peak memory', 'answers', 'audit'], list(map(_row, memory.modes)))}"


def _row(mode: Mode) -> list[str]:
    answers = ", ".join(
        f"{'no answer' if status == '0' else status}: {number:,}" for status, number in sorted(mode.statuses.items())
    )
    too_much = f" (over {LIMIT_MIB})" if mode.peak_mib > LIMIT_MIB else ""
    return [mode.name, f"{mode.peak_mib:.0f} MiB{too_much}", answers, "holds" if mode.audit.holds else "FAILED"]
