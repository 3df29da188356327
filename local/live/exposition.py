"""Parses Prometheus text into numbers."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

Buckets = Mapping[float, float]


@dataclass(frozen=True)
class Scrape:
    """The samples of one scrape, by name; `taken`: when, in seconds of a monotonic clock."""

    taken: float
    samples: Mapping[str, list[tuple[Mapping[str, str], float]]]

    def total(self, name: str) -> float | None:
        """Returns the sum of a name's series, or None if there is no series."""
        found = self.samples.get(name)
        return sum(value for _, value in found) if found else None

    def by(self, name: str, label: str) -> dict[str, float]:
        """Returns the sum of a name's series for each value of a label."""
        sums: dict[str, float] = defaultdict(float)
        for labels, value in self.samples.get(name, ()):
            sums[labels.get(label, "")] += value
        return sums

    def buckets(self, name: str, unlike: tuple[str, str] | None = None) -> Buckets:
        """Returns a histogram's cumulative counts by upper bound, ascending, as the sum of the histogram's series.

        Leaves out series with the label and value of `unlike`.
        """
        counts: dict[str, float] = defaultdict(float)
        for labels, count in self.samples.get(f"{name}_bucket", ()):
            if unlike is None or unlike not in labels.items():
                counts[labels["le"]] += count
        return dict(sorted((float(bound), count) for bound, count in counts.items()))


def parse(text: str, taken: float) -> Scrape:
    """Parses `text`. Raises ValueError if it is not Prometheus text."""
    samples: dict[str, list[tuple[Mapping[str, str], float]]] = defaultdict(list)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            samples[sample.name].append((sample.labels, sample.value))
    return Scrape(taken, samples)
