"""Replaces standard error with a stream that never makes a writer wait, because a separate thread does the writing.

A write to a pipe waits while the pipe is full. Without this stream, a log reader that stalls would stop the event loop,
and with it all webhooks, probes and signals. While the reader stalls, the stream stores at most MOST_BYTES, and then
drops and counts lines. It also drops and counts the lines that a closed pipe or a full disk rejects.
"""

import atexit
import io
import os
import sys
import threading
from select import select
from typing import TYPE_CHECKING, Any

from loguru import logger

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from app.telemetry.metrics.process_metrics import Metrics

MOST_BYTES = 2**20
# When the process ends, it waits at most this many seconds until the last lines are written.
EXIT_SECONDS = 1.0


def replace_stderr() -> "LogStream":
    """Makes `sys.stderr` a text stream over the returned LogStream. Call this function before `configure_logging`."""
    original = sys.__stderr__  # None if standard error is closed
    stream = LogStream(os.open(os.devnull, os.O_WRONLY) if original is None else original.fileno())
    atexit.register(stream.finish, EXIT_SECONDS)
    encoding = "utf-8" if original is None else original.encoding
    sys.stderr = io.TextIOWrapper(stream, encoding, "backslashreplace", write_through=True)
    return stream


class LogStream(io.RawIOBase):
    """Stores written data until a separate thread has written it to the file descriptor `file`. Any thread may write.

    `dropped`: the number of lines that were dropped.
    """

    def __init__(self, file: int) -> None:
        super().__init__()
        self.dropped = 0
        self._unreported = 0
        self._file = file
        self._torn = False  # True if the last line in the file lacks its line break
        # The lock is reentrant, because a finalizer may log while its thread has the lock.
        self._changed = threading.Condition(threading.RLock())
        self._stored: list[bytes] = []
        self._size = 0  # bytes that are stored, or that the thread is writing
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file

    def isatty(self) -> bool:
        return os.isatty(self._file)

    def write(self, data: "ReadableBuffer", /) -> int:
        """Stores `data`, or drops it if the stream would store more than MOST_BYTES. Returns the length of `data`."""
        text = bytes(data)
        size = len(text)
        # This stream's own thread logs only how many lines were dropped. Such a line is always stored.
        own = threading.get_ident() == self._thread.ident
        with self._changed:
            if own or self._size + size <= MOST_BYTES:
                self._size += size
                self._stored.append(text)
                self._changed.notify_all()
            else:
                self._drop(text)
        return size

    def add_to(self, metrics: "Metrics[Any] | None") -> None:
        """Adds the counter of dropped lines to `metrics`, if the process exports metrics."""
        if metrics is not None:
            from app.telemetry.metrics.instruments import counter  # imported only if metrics are exported

            text = "Log lines that were dropped, because standard error was full, closed or on a full disk."
            metrics.add([counter("invoice_webhook.log.dropped", "{line}", text, lambda: self.dropped)])

    def finish(self, seconds: float) -> None:
        """Waits until everything is written, but at most `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: self._size == 0, seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stored)
                taken, self._stored = b"".join(self._stored), []
            self._write_or_drop(taken)
            with self._changed:
                self._size -= len(taken)
                self._changed.notify_all()

    def _write_or_drop(self, data: bytes) -> None:
        end = b"\n" if self._torn else b""
        data = end + data
        written = 0
        try:
            while written < len(data):
                written += self._write_some(data[written:])
        except OSError:  # a closed pipe or a full disk
            if written:
                self._torn = data[written - 1] != ord("\n")
            self._drop(data[max(written, len(end)) :])
        else:
            self._torn = False
            self._report()

    def _write_some(self, data: bytes) -> int:
        try:
            return os.write(self._file, data)
        except BlockingIOError:  # another process has made the pipe non-blocking, which applies to all its writers
            select([], [self._file], [])
            return 0

    def _drop(self, data: bytes) -> None:
        lines = data.count(b"\n")
        with self._changed:
            self.dropped += lines
            self._unreported += lines

    def _report(self) -> None:
        """Logs how many lines were dropped, if any. The thread calls this method when it has written something."""
        with self._changed:
            dropped, self._unreported = self._unreported, 0
        if dropped:
            logger.bind(dropped=dropped).warning("Standard error takes log lines again: {} lines were dropped", dropped)
