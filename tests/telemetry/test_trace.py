"""W3C trace context, compared with OpenTelemetry's propagator and samplers."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import Decision, TraceIdRatioBased
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.errors import ConfigurationError
from app.settings import WebSettings
from app.telemetry.observers import Observers, make_worker_observers
from app.telemetry.record import MessageRecord
from app.telemetry.trace import ARGUMENT, SAMPLER, Sampling, Trace

PARENT = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
UNSAMPLED = PARENT[:-1] + b"0"
HEX = st.text("0123456789abcdef", min_size=1, max_size=34)


def _parts(version: str, trace_id: str, span_id: str, flags: str, rest: str) -> str:
    return f"{version}-{trace_id}-{span_id}-{flags}{rest}"


LIKE_ONE = st.builds(
    _parts,
    st.sampled_from(["00", "01", "cc", "ff", "0", "0g"]),
    st.sampled_from(["0" * 32, "4bf92f3577b34da6a3ce929d0e0e4736", "4BF92F3577B34DA6A3CE929D0E0E4736"]) | HEX,
    st.sampled_from(["0" * 16, "00f067aa0ba902b7"]) | HEX,
    st.sampled_from(["00", "01", "02", "03", "ff", "1"]),
    st.sampled_from(["", "-", "-more", "more"]),
)


@given(LIKE_ONE)
def test_a_header_means_what_it_means_to_opentelemetry(header: str) -> None:
    """Both read the same ids and sampled flag, or nothing."""
    ours = Trace.parsed(header.encode())
    context = TraceContextTextMapPropagator().extract({"traceparent": header}, Context())
    theirs = get_current_span(context).get_span_context()
    found = (ours.trace_id, ours.span_id, ours.sampled) if ours else (0, 0, False)
    assert found == (theirs.trace_id, theirs.span_id, theirs.trace_flags.sampled)


@given(st.integers(1, 2**128 - 1), st.integers(1, 2**64 - 1), st.booleans())
def test_what_is_sent_can_be_read(trace_id: int, span_id: int, sampled: bool) -> None:
    """`Trace.parsed` reads what `traceparent` writes, and so does OpenTelemetry (see above)."""
    trace = Trace(trace_id, span_id, sampled)
    assert Trace.parsed(trace.traceparent.encode()) == trace


@given(st.integers(1, 2**128 - 1), st.floats(0, 1))
@example(2**64, 1e-300)  # bits that are all zero, with a bound that rounds to zero
def test_a_ratio_chooses_the_same_traces_as_opentelemetry_s(trace_id: int, ratio: float) -> None:
    """The ratio chooses the same traces as OpenTelemetry's sampler, so all services of a trace agree."""
    header = Trace(trace_id, 1, sampled=False).traceparent.encode()
    ours = Sampling("traceidratio", ratio).begin(header)
    theirs = TraceIdRatioBased(ratio).should_sample(None, trace_id, "").decision
    assert ours is not None
    assert ours.sampled == (theirs is Decision.RECORD_AND_SAMPLE)


def test_a_trace_is_continued() -> None:
    """A sampled trace continues with a new span, whose parent is the sender's span."""
    trace = Sampling("parentbased_always_off", 1).begin(PARENT)
    assert trace is not None
    assert (f"{trace.trace_id:x}", trace.parent_id, trace.sampled) == (PARENT[3:35].decode(), 0xF067AA0BA902B7, True)
    assert trace.span_id not in (0, trace.parent_id)


def test_an_unsampled_trace_is_passed_on() -> None:
    """An unsampled trace is passed on unchanged, because the service has no span that a consumer could refer to."""
    trace = Sampling("parentbased_always_on", 1).begin(UNSAMPLED)
    assert trace is not None
    assert trace.traceparent.encode() == UNSAMPLED


def test_without_a_sender_s_trace_the_ratio_decides() -> None:
    """The ratio samples all traces, none, or some."""
    assert Sampling("parentbased_always_on", 0).begin(None) is not None
    assert Sampling("parentbased_always_off", 1).begin(None) is None
    begun = [Sampling("parentbased_traceidratio", 0.5).begin(None) for _ in range(1000)]
    assert 300 < sum(trace is not None for trace in begun) < 700


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1])
def test_a_worker_continues_a_new_trace(ratio: float) -> None:
    """The ratio chooses the ids of new traces, so the worker, and OpenTelemetry's sampler, sample these traces too."""
    sampling = Sampling("traceidratio", ratio)
    begun = [trace for _ in range(1000) if (trace := sampling.begin(None)) is not None]
    continued = [sampling.begin(trace.traceparent.encode()) for trace in begun]
    assert begun
    assert all(trace is not None and trace.sampled for trace in continued)


@pytest.mark.parametrize(
    ("name", "value"), [(SAMPLER, "sometimes"), (ARGUMENT, "2"), (ARGUMENT, "nan"), (ARGUMENT, "half")]
)
def test_unknown_values_stop_the_start(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is a line that names the value."""
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=f"{name}={value}: allowed is"):
        Sampling.from_environment()


@pytest.mark.parametrize(("name", "value"), [("OTEL_BSP_MAX_QUEUE_SIZE", "-1"), ("OTEL_BSP_SCHEDULE_DELAY", "0")])
def test_a_value_that_the_sdk_rejects(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's ValueError becomes an error of the configuration, which is one line."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=r"a variable OTEL_… is wrong: .* must be"):
        make_worker_observers(WebSettings(), "queue")


def test_a_traceparent_that_is_no_text() -> None:
    """A lone surrogate begins no trace, and raises no error."""
    assert Observers[MessageRecord]().continue_trace("\ud800") is None


@pytest.mark.parametrize("given", [None, ""])
def test_one_in_a_hundred_by_default(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One trace in a hundred is sampled, unless the sender has decided. An empty variable counts as not set."""
    monkeypatch.delenv(SAMPLER, raising=False)
    if given is not None:
        monkeypatch.setenv(SAMPLER, given)
    monkeypatch.delenv(ARGUMENT, raising=False)
    sampling = Sampling.from_environment()
    assert sum(sampling.begin(None) is not None for _ in range(20_000)) == pytest.approx(200, abs=100)
    continued = sampling.begin(PARENT)
    assert continued is not None
    assert continued.sampled
