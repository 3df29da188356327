"""A collector that receives OTLP/HTTP, and decodes the protobuf messages."""

import gzip
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Generic, Self, TypeVar

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Request = TypeVar("Request", ExportMetricsServiceRequest, ExportTraceServiceRequest)


class OtlpReceiver(Generic[Request]):
    """A context that listens on a free port for one kind of requests. `held`: responds only when the context ends."""

    def __init__(self, kind: type[Request], *, held: bool = False) -> None:
        self._kind: type[Request] = kind
        self.requests: list[Request] = []
        self.paths: list[str] = []
        self._changed = threading.Condition()
        self._released = threading.Event()
        if not held:
            self._released.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                compressed = self.headers.get("Content-Encoding") == "gzip"
                receiver._received(self.path, gzip.decompress(body) if compressed else body)
                receiver._released.wait()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.end_headers()
                self.wfile.write(b"")  # a protobuf response in which no field is set

            def log_message(self, *arguments: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *arguments: Any) -> None:
                pass  # a service that has ended does not read the response

        self._server = Server(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_for(self, wanted: Callable[[Request], bool], timeout: float = 60) -> Request:
        """Waits for the first request for which `wanted` returns True, and returns it."""

        def found() -> Request | None:
            return next(filter(wanted, self.requests), None)

        with self._changed:
            self._changed.wait_for(lambda: found() is not None, timeout)
            request = found()
        assert request is not None, f"none of {len(self.requests)} requests"
        return request

    def _received(self, path: str, body: bytes) -> None:
        with self._changed:
            self.paths.append(path)
            self.requests.append(self._kind.FromString(body))
            self._changed.notify_all()


def metrics_of(request: ExportMetricsServiceRequest) -> dict[str, Any]:
    """Returns the metrics of a request by name."""
    return {
        metric.name: metric
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def spans_of(request: ExportTraceServiceRequest) -> list[Any]:
    """Returns all spans of a request."""
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


def attributes(pairs: Any) -> dict[str, Any]:
    """Returns the attributes of a resource, a data point or a span by name."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
