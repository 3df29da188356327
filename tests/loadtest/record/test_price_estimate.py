"""Medians, intervals and ratios over repeats."""

from loadtest.record.price_estimate import MedianEstimate, estimate, ratio


def test_few_repeats_give_their_range() -> None:
    """The estimate is the median with the smallest and the largest value. A repeat without a value does not count."""
    assert estimate([3.0, 1.0, None, 2.0]) == MedianEstimate(2.0, 1.0, 3.0)
    assert estimate([3.0, 1.0, 2.0]).text() == "2.0 (1.0–3.0)"
    assert estimate([2.0]).text(".0f") == "2"
    assert estimate([None]).text() == "–"


def test_many_repeats_narrow_it() -> None:
    """The interval leaves out one of nine values on each side (96 %), two of twelve (96 %), and none of five."""
    assert estimate([float(value) for value in range(9)]) == MedianEstimate(4, 1, 7)
    assert estimate([float(value) for value in range(12)]) == MedianEstimate(5.5, 2, 9)
    assert estimate([float(value) for value in range(8)]) == MedianEstimate(3.5, 0, 7)
    assert estimate([float(value) for value in range(5)]) == MedianEstimate(2, 0, 4)


def test_ratios_are_of_the_same_round() -> None:
    """The ratio is computed in each round, so a slow minute that affects both values does not change it."""
    assert ratio([2.0, 20.0, 4.0], [1.0, 10.0, 2.0]) == MedianEstimate(2.0, 2.0, 2.0)
    assert ratio([2.0, 20.0], [1.0, 10.0, 99.0]) == MedianEstimate(2.0, 2.0, 2.0)
