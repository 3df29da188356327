"""A worker beside the service, for what Prometheus finds of both."""

from tests.worker.conftest import controller, start_worker

__all__ = ["controller", "start_worker"]
