"""Parses metrics in Prometheus' text format into numbers."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

Buckets = Mapping[float, float]


@dataclass(frozen=True)
class Scrape:
    """The metrics that a service reported at one time: the samples by metric name.

    `taken` is the time of the scrape, in seconds of a monotonic clock.
    """

    taken: float
    samples: Mapping[str, list[tuple[Mapping[str, str], float]]]

    def total(self, name: str, unlike: tuple[str, str] | None = None) -> float | None:
        """Returns the sum of all series of the metric `name`, or None if the scrape has no such series.

        `unlike`: a label and a value. Series that have this label with this value are left out.
        """
        found = [
            value for labels, value in self.samples.get(name, ()) if unlike is None or unlike not in labels.items()
        ]
        return sum(found) if found else None

    def by(self, name: str, label: str) -> dict[str, float]:
        """Returns, for each value of the label `label`, the sum of the metric's series with this value."""
        sums: dict[str, float] = defaultdict(float)
        for labels, value in self.samples.get(name, ()):
            sums[labels.get(label, "")] += value
        return sums

    def buckets(self, name: str, unlike: tuple[str, str] | None = None) -> Buckets:
        """Returns the cumulative counts of the histogram `name` by upper bound, in ascending order of the bounds.

        Adds up all series of the histogram. `unlike`: a label and a value. Series that have this label with this value
        are left out.
        """
        counts: dict[str, float] = defaultdict(float)
        for labels, count in self.samples.get(f"{name}_bucket", ()):
            if unlike is None or unlike not in labels.items():
                counts[labels["le"]] += count
        return dict(sorted((float(bound), count) for bound, count in counts.items()))


def parse(text: str, taken: float) -> Scrape:
    """Returns the samples in `text`. Raises ValueError if `text` is not in Prometheus' text format."""
    samples: dict[str, list[tuple[Mapping[str, str], float]]] = defaultdict(list)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            samples[sample.name].append((sample.labels, sample.value))
    return Scrape(taken, samples)
