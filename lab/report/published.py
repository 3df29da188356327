"""Reads the published figures of the lab's studies (published.json), and the reasons why ours differ (reasons.json)."""

import json
from pathlib import Path
from typing import Any, Literal

from loadtest.record.shapes import Record

_HERE = Path(__file__).parent
# Why published ratios were not reproduced. (We found the reasons by measuring.) Keys: the study, then the comparison.
REASONS: dict[str, dict[str, str]] = json.loads((_HERE / "reasons.json").read_text(encoding="utf-8"))


class PublishedComparison(Record):
    """Two cases of a study. `published`: the figures of `over` and `under`; `claimed`: what is claimed without figures.

    `metric`: `rps` (answers with status 200 in a second), `mean_ms` (mean latency), `threads`, or `cpu_ms` (CPU time of
    a request). If the figure of `under` is 1, the figure of `over` is the ratio itself. For fib 30, the published rates
    (10, 9, 38 and 33) are rounded too much, so published.json has ratios of the unrounded rates. docs/lab.md shows only
    comparisons with `main`, at most five of a study.
    """

    id: str
    main: bool = False
    claim: str
    over: str
    under: str
    metric: Literal["rps", "mean_ms", "threads", "cpu_ms"]
    published: tuple[float, float] | None = None
    claimed: Literal["more", "less", "same"] | None = None

    @property
    def ratio(self) -> float | None:
        """Returns the published figure of `over` divided by that of `under`, or None if no figures were published."""
        return self.published[0] / self.published[1] if self.published else None


class Published(Record):
    """One study. `source`: its author. `published`: the study's load. `here`: our load, and how the two differ."""

    title: str
    source: str
    published: str
    here: str
    comparisons: list[PublishedComparison]


def _load() -> dict[str, Published]:
    studies: dict[str, Any] = json.loads((_HERE / "published.json").read_text(encoding="utf-8"))
    return {name: Published.model_validate(study) for name, study in studies.items()}


PUBLISHED = _load()
