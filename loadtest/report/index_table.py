"""The table in RESULTS.md that lists all results: see `loadtest.record.index`."""

from loadtest.record import index
from loadtest.record.index import Entry, Index
from loadtest.report.captions import processor
from loadtest.report.cells import markdown

HEAD = ["parts", "commit", "day", "machine", "Python, OpenSSL", "minutes"]


def table() -> str:
    """Returns the table. Parts (such as `bench`) with the same commit, day, machine and Python share a row.

    The table marks doubtful parts, and parts that were measured on another machine than most parts.
    """
    found = index.read()
    rows: dict[tuple[str, ...], list[tuple[str, Entry]]] = {}
    for name, entry in found.parts.items():
        rows.setdefault(_where(entry, found), []).append((name, entry))
    ordered = sorted(rows.items(), key=lambda row: row[0][1])
    return markdown(HEAD, [[", ".join(map(_name, of)), *where, _minutes(of)] for where, of in ordered])


def _name(part: tuple[str, Entry]) -> str:
    name, entry = part
    return f"{name} (DOUBTFUL)" if entry.doubts else name


def _where(entry: Entry, found: Index) -> tuple[str, ...]:
    machine = entry.environment.machine
    mark = "" if entry.hardware == found.hardware else "**another machine**: "
    return (
        f"`{entry.environment.commit}`",
        entry.environment.started[:10],
        f"{mark}{machine['cores']} cores ({processor(machine)}), {machine['system']}",
        f"{machine['python']}, {machine.get('openssl', '–')}",
    )


def _minutes(of: list[tuple[str, Entry]]) -> str:
    seconds = [entry.seconds for _, entry in of]
    return "–" if None in seconds else f"{sum(one or 0 for one in seconds) / 60:,.0f}"
