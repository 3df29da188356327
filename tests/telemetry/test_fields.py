"""A field that a record's class declares appears in the log, the span and the metric under its names."""

from dataclasses import dataclass
from typing import Annotated, Any

import orjson
import pytest

from app.telemetry.fields import Metric, Named, compiled_line, declared, log_fields, span_attributes
from app.telemetry.metrics.declared import DeclaredMetrics
from app.telemetry.record import CallRecord, MessageRecord, WebhookRecord


@dataclass
class Inner:
    name: str
    odd: bool


@dataclass
class Sample:
    outcome: str
    took: Annotated[float, Named("took_s", decimals=1, usual=float, metric=Metric("took", "s", "", (1.0, 2.0)))]
    inner: Annotated[
        Inner | None, Named("name", path="inner.name", usual=str), Named("odd", path="inner.odd", usual=bool)
    ]
    size: Annotated[int | None, Named("size", "app.size", metric=Metric("size", "By", ""))] = None


LINE = compiled_line(Sample, "sample")
USUAL = Sample("done", 1.25, Inner("a-b", odd=True))


def test_a_usual_line_is_what_a_json_library_writes() -> None:
    line: dict[str, Any] = {"time": "now", "level": "INFO", "message": "sample done", **log_fields(USUAL)}
    assert LINE(USUAL, "now") == orjson.dumps(line).decode() + "\n"


@pytest.mark.parametrize("sample", [Sample("done", 1.25, None), Sample("done", 1.25, Inner("a", odd=False), 0)])
def test_other_records_have_no_compiled_line(sample: Sample) -> None:
    """The compiled line would lack a value of theirs, or show one that they do not have."""
    assert LINE(sample, "now") is None


def test_a_missing_value_is_nowhere() -> None:
    sample = Sample("done", 1.26, None)
    assert log_fields(sample) == {"took_s": 1.3}
    assert span_attributes(sample) == {}
    assert span_attributes(Sample("done", 1.0, None, 7)) == {"app.size": 7}


def test_a_metric_has_the_values_of_the_records() -> None:
    metrics = DeclaredMetrics(Sample)
    for sample in (USUAL, Sample("done", 2.5, None, 7)):
        metrics.observe(sample)
    points = {one.description.name: list(one.points()) for one in metrics.instruments}
    assert points == {"took": [((), ([0, 1, 1], 3.75))], "size": [((), 7)]}


@pytest.mark.parametrize("record", [WebhookRecord, MessageRecord, CallRecord])
def test_each_name_is_declared_once(record: type) -> None:
    named = [one.named for one in declared(record)]
    for names in ([one.log for one in named if one.log], [one.span for one in named if one.span]):
        assert len(names) == len(set(names))
