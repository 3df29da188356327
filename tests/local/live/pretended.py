"""A fake service: /healthz, webhooks, and metrics with the names of the real ones."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from local.live.page_config import ShownService

SECONDS = (0.001, 0.01, 0.1, 1, 10)


class Pretended:
    """A fake service, which runs inside the context.

    A test clears `answering` to stop the answers; `delay` is the latency that the queue was set to. `accept_after` is
    the time in seconds that a webhook waits before the service accepts it. `chargebee` is the URL of a stand-in.
    """

    def __init__(self, name: str = "v09_group_commit") -> None:
        self.name = name
        self.change = "a change."
        self.waits = ""
        self.chargebee: str | None = None
        self.answering = threading.Event()
        self.answering.set()
        self.webhooks: list[bytes] = []
        self.delay: float | None = None
        self.accept_after = 0.0
        self._arrived = threading.Condition()
        registry = CollectorRegistry()
        self.counted = Counter("invoice_webhook_webhooks", "-", ["outcome"], registry=registry)
        self.durations = Histogram("http_server_request_duration_seconds", "-", buckets=SECONDS, registry=registry)
        self.in_flight = Gauge("http_server_active_requests", "-", registry=registry)
        self._registry = registry

    def take(self, body: bytes) -> None:
        with self._arrived:
            self.webhooks.append(body)
            self._arrived.notify_all()
        self.durations.observe(0.05)
        self.counted.labels("queued").inc()  # last: who sees it, sees both

    def wait_for(self, webhooks: int) -> None:
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.webhooks) >= webhooks, 60), len(self.webhooks)

    def shown(self) -> ShownService:
        url = f"http://127.0.0.1:{self._server.server_port}"
        metrics = f"http://127.0.0.1:{self._exporter.server_port}/metrics"
        return ShownService(
            self.name,
            self.change,
            "a cost.",
            url,
            metrics,
            sqs=f"{url}/_delay",
            chargebee=self.chargebee,
            waits=self.waits,
        )

    def __enter__(self) -> Self:
        self._exporter, self._exporting = start_http_server(0, "127.0.0.1", self._registry)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._serving = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._serving.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.answering.set()
        for server, thread in ((self._server, self._serving), (self._exporter, self._exporting)):
            server.shutdown()
            thread.join()
            server.server_close()


def _handler(service: Pretended) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # http.server calls it by this name
            service.answering.wait(60)
            self._end(200)

        def do_POST(self) -> None:
            time.sleep(service.accept_after)
            service.take(self._body())
            self._end(200)

        def do_PUT(self) -> None:
            service.delay = float(self._body())
            self._end(204)

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers["Content-Length"]))

        def _end(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    return Handler
