"""Reads a service's /metrics with the parser of Prometheus' Python client."""

import time
from collections.abc import Callable
from typing import NamedTuple

import httpx
from prometheus_client import parser

from tests.harness.service import NO_CAS, Web

PATIENCE_SECONDS = 60


class Scrape(NamedTuple):
    """All samples of one scrape. `samples`: the value, by name and labels."""

    samples: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def value(self, name: str, **labels: str) -> float:
        return self.samples[name, frozenset(labels.items())]

    def names(self) -> set[str]:
        return {name for name, _ in self.samples}


def parsed(text: str) -> Scrape:
    families = parser.text_string_to_metric_families(text)
    found = [sample for family in families for sample in family.samples]
    samples = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in found}
    assert len(samples) == len(found), "a series twice"
    return Scrape(samples)


def metrics_url(service: Web) -> str:
    """Returns the URL of /metrics of a service that runs with APP_METRICS_PORT=0."""
    return service.wait_for("Metrics on").split()[-1]


def scrape(service: Web) -> Scrape:
    answer = httpx.get(metrics_url(service), verify=NO_CAS, timeout=PATIENCE_SECONDS)
    assert answer.status_code == 200
    return parsed(answer.text)


def scrape_until(service: Web, wanted: Callable[[Scrape], bool]) -> Scrape:
    """Returns the first scrape for which `wanted` returns True."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not wanted(found := scrape(service)):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)  # between two scrapes
    return found
