"""Provides the fixtures that start a worker, which Prometheus scrapes beside the service."""

from tests.worker.conftest import controller, start_worker

__all__ = ["controller", "start_worker"]
