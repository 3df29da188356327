"""Question: what do logs, metrics and traces cost, on an endpoint that does nothing else?

Setup: APP_LAB_OBSERVE selects one of the following.

    stdlib, queue              a log line for each request, by Python's logging, without and with a queue
    loguru, structlog          a log line for each request, by these libraries
    ours                       a log line from this project's record of a webhook; a thread writes many lines at once
    prometheus                 metrics by prometheus-fastapi-instrumentator
    otel, otel_sampled         traces by OpenTelemetry's instrumentation of FastAPI: all requests, or one in a hundred
    telemetry                  traces by FastAPI's own `telemetry=`

The exporter discards the traces' spans. The instrumentations record no metrics, because no meter provider is set.
uvicorn's access log and a slow reader of standard error are options of the measurement.

Asked: lite-bootstrap#189, opentelemetry-python#3474, uvicorn#112, loguru#667.

What to expect: on an endpoint that does nothing, each of these except this project's record takes a large part of the
request's CPU time. On an endpoint that calls a database for two milliseconds, log lines and metrics take a small part,
but traces do not. If standard error is a full pipe that nobody reads, a log line blocks the event loop.
"""

import logging
import logging.handlers
import queue
import sys
import time
from collections.abc import Callable, Sequence

import structlog
from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from loguru import logger as loguru_logger
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler, TraceIdRatioBased
from prometheus_fastapi_instrumentator import Instrumentator

from app.settings import WebSettings
from app.telemetry.lines import WebhookLines
from app.telemetry.record import WebhookRecord
from app.telemetry.stderr import replace_stderr
from lab.lab_settings import load_lab_settings

Tell = Callable[[float], object]  # records a request; the argument is the time.perf_counter() at which it began
observe = load_lab_settings().observe
# This text is as long as an ordinary line of a log.
TEXT = (
    "GET /orders/4711 200 in %.3f ms, from 10.0.12.34, HTTP/1.1, by a client of 60 characters; " + "context=value " * 8
)


class Nowhere(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def traces(sampler: Sampler) -> TracerProvider:
    provider = TracerProvider(sampler)
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    return provider


def milliseconds(began: float) -> float:
    return 1000 * (time.perf_counter() - began)


def stdlib(handler: logging.Handler) -> Tell:
    logger = logging.getLogger("lab.requests")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    return lambda began: logger.info(TEXT, milliseconds(began))


def behind_a_queue() -> Tell:
    lines: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    logging.handlers.QueueListener(lines, logging.StreamHandler()).start()
    return stdlib(logging.handlers.QueueHandler(lines))


def ours() -> Tell:
    replace_stderr()
    lines = WebhookLines(WebSettings(log_format="json"))
    return lambda began: lines.log(WebhookRecord(began, "queued", answered=time.perf_counter()))


def by_structlog() -> Tell:
    structlog.configure(
        [structlog.processors.TimeStamper(), structlog.processors.JSONRenderer()], cache_logger_on_first_use=True
    )
    logger = structlog.wrap_logger(structlog.PrintLogger(sys.stderr))
    return lambda began: logger.info(TEXT, ms=milliseconds(began))


def nothing_told() -> Tell:
    return lambda began: None


TELLS: dict[str, Callable[[], Tell]] = {
    "stdlib": lambda: stdlib(logging.StreamHandler()),
    "queue": behind_a_queue,
    "loguru": lambda: lambda began: loguru_logger.info(TEXT % milliseconds(began)),
    "structlog": by_structlog,
    "ours": ours,
}
tell = TELLS.get(observe, nothing_told)()
providers = TelemetryConfig(tracer_provider=traces(ALWAYS_ON))
app = FastAPI(telemetry=providers if observe == "telemetry" else None)


@app.get("/")
async def nothing() -> str:
    began = time.perf_counter()
    tell(began)
    return "here"


if observe == "prometheus":
    Instrumentator().instrument(app).expose(app)
elif observe.startswith("otel"):
    sampler = ALWAYS_ON if observe == "otel" else TraceIdRatioBased(0.01)
    FastAPIInstrumentor.instrument_app(app, tracer_provider=traces(sampler))
