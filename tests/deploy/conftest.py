"""Provides the table and the stand-in of Chargebee for a worker, which Prometheus scrapes beside the service."""

from tests.billing.conftest import api, embedded, stage

__all__ = ["api", "embedded", "stage"]
