"""What a reader of an instrument finds."""

from app.telemetry.metrics.instruments import Buckets, Counter, Histogram, gauge


def test_a_counter_begins_at_zero() -> None:
    """Known series are present before anything is counted; a counter without labels has one series."""
    assert Counter("a", "{webhook}", "", ("kind",), (("x",), ("y",))).points() == [(("x",), 0), (("y",), 0)]
    counter = Counter("a", "{webhook}", "")
    counter.values[()] += 2
    assert counter.points() == [((), 2)]


def test_bounds_belong_to_the_bucket_below() -> None:
    """As with Prometheus' `le`, a value equal to a bound is in that bucket; the last bucket has no bound."""
    histogram = Histogram("a", "s", "", (1.0, 2.0))
    series = histogram.series()
    for value in (0.0, 1.0, 1.5, 2.0, 2.1):
        series.observe(value)
    assert histogram.points() == [((), Buckets([2, 2, 1], 6.6))]


def test_series_are_made_once() -> None:
    """The same labels return the same series."""
    histogram = Histogram("a", "s", "", (1.0,), ("code",))
    assert histogram.series(200) is histogram.series(200)
    assert histogram.series(503) is not histogram.series(200)
    assert [labels for labels, _ in histogram.points()] == [(200,), (503,)]


def test_a_copy_does_not_change() -> None:
    """Later measurements do not change the values that a reader has copied."""
    histogram = Histogram("a", "s", "", (1.0,))
    series = histogram.series()
    found = histogram.points()
    series.observe(0.5)
    assert found == [((), Buckets([0, 0], 0.0))]


def test_a_gauge_is_read_when_it_is_asked_for() -> None:
    """Each collection calls the gauge's function."""
    values = iter((1.0, 2.0))
    instrument = gauge("a", "", "", lambda: next(values))
    assert [list(instrument.points()), list(instrument.points())] == [[((), 1.0)], [((), 2.0)]]
