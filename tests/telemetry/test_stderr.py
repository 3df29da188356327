"""Standard error that never waits: lines are stored, written by a thread, or dropped and counted."""

import errno
import io
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import pytest

from app.settings import WebSettings
from app.telemetry import stderr
from app.telemetry.logging import configure_logging
from app.telemetry.stderr import LogStream, replace_stderr

pytestmark = pytest.mark.usefixtures("undone")
LINE = b"x" * 99 + b"\n"
SECONDS = 60.0


class Pipe(NamedTuple):
    """A LogStream that writes to a pipe, and the pipe's other end."""

    stream: LogStream
    reader: IO[bytes]
    writer: int


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as file:
        yield Pipe(LogStream(writer), file, writer)


def _flood(stream: LogStream) -> int:
    """Writes lines until the stream has dropped one. Returns the number of lines."""
    written = 0
    while not stream.dropped:
        stream.write(LINE)
        written += 1
    return written


def _logged_to(stream: LogStream, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this process log JSON lines to `stream`."""
    buffer: Any = stream
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(buffer, "utf-8", write_through=True))
    configure_logging(WebSettings(log_format="json"))


def test_a_reader_that_stalls(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines beyond MOST_BYTES are dropped; when the reader reads again, one line says how many."""
    _logged_to(pipe.stream, monkeypatch)
    monkeypatch.setattr(stderr, "MOST_BYTES", 10_000)
    written = _flood(pipe.stream)
    read = b""
    while b"takes log lines again" not in read:
        read += pipe.reader.read(1 << 20)
    *lines, report = read.splitlines(keepends=True)
    assert set(lines) == {LINE}
    assert len(lines) == written - 1
    assert json.loads(report)["dropped"] == pipe.stream.dropped == 1
    pipe.stream.write(LINE)
    assert pipe.reader.read(1 << 20) == LINE


def test_the_end_waits_for_a_reader_and_not_for_ever(pipe: Pipe) -> None:
    """`finish` ends after its time while the reader stalls, and when all lines are written otherwise."""
    _flood(pipe.stream)
    pipe.stream.finish(0.01)
    pipe.reader.close()  # the thread's write fails, and the lines that are stored count as dropped
    pipe.stream.finish(SECONDS)
    assert pipe.stream._size == 0


def test_a_pipe_that_is_closed(pipe: Pipe) -> None:
    """All lines are counted, and nothing is raised."""
    pipe.reader.close()
    for _ in range(3):
        pipe.stream.write(LINE)
    pipe.stream.finish(SECONDS)
    assert pipe.stream.dropped == 3


def test_a_pipe_that_another_process_made_non_blocking(pipe: Pipe) -> None:
    """The thread waits for the reader, as with a blocking pipe."""
    os.set_blocking(pipe.writer, False)
    number = (1 << 18) // len(LINE)
    for _ in range(number):
        pipe.stream.write(LINE)
    read = b""
    while len(read) < number * len(LINE):
        read += pipe.reader.read(1 << 20)
    assert read == number * LINE
    assert pipe.stream.dropped == 0


def test_a_disk_that_was_full(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is on the disk only in part ends before the next line, and both failed lines are counted."""
    _logged_to(pipe.stream, monkeypatch)
    write = os.write
    results: list[Any] = [lambda data: write(pipe.writer, data[:150]), *[OSError(errno.ENOSPC, "full")] * 2]

    def full(file: int, data: bytes) -> int:
        result = results.pop(0) if file == pipe.writer and results else lambda data: write(file, data)
        if isinstance(result, OSError):
            raise result
        return int(result(data))

    monkeypatch.setattr(os, "write", full)
    pipe.stream.write(LINE + LINE)
    pipe.stream.finish(SECONDS)
    pipe.stream.write(LINE)
    pipe.stream.finish(SECONDS)
    pipe.stream.write(LINE)
    pipe.stream.finish(SECONDS)
    *lines, report = pipe.reader.read(1 << 20).splitlines(keepends=True)
    assert lines == [LINE, LINE[:50] + b"\n", LINE]
    assert json.loads(report)["dropped"] == 2


def test_what_a_library_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """`sys.stderr` stays a text file with its encoding and its descriptor, and shows if it is a terminal."""
    main, terminal = os.openpty()
    with os.fdopen(terminal, "w", encoding="utf-8") as original, os.fdopen(main, "rb", buffering=0) as screen:
        monkeypatch.setattr(sys, "stderr", original)
        monkeypatch.setattr(sys, "__stderr__", original)
        replace_stderr()
        sys.stderr.write("Grüße\n")
        assert (sys.stderr.isatty(), sys.stderr.fileno()) == (True, terminal)
        assert screen.read(100).decode() == "Grüße\r\n"


SCRIPT = """
    import sys
    from app.telemetry.stderr import replace_stderr
    log = replace_stderr()
    print("first", file=sys.stderr)
    {then}
    print("last", file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("redirect", "then", "expected"),
    [
        ("", "raise SystemExit('the reason')", (1, "first\nthe reason\n")),
        ("", "", (0, "first\nlast\n")),
        ("2>&-", "", (0, "")),
        ("2>/dev/full", "", (0, "")),
        ("2> >(exec 0<&-)", "", (0, "")),
        ("2> >(exec sleep 60 >/dev/null 2>&1)", "log.write(b'x' * 999_999)", (0, "")),
    ],
)
def test_the_exit_code(redirect: str, then: str, expected: tuple[int, str]) -> None:
    """The last lines of a process are written, and a process without a reader ends with its own code."""
    script = textwrap.dedent(SCRIPT).format(then=then)
    command = ["bash", "-c", f'exec "$@" {redirect}', "bash", sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=30)
    assert (ended.returncode, ended.stderr) == expected
