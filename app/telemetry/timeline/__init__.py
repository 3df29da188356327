"""A timeline of this process: what its event loop, each thread and each webhook did when.

states.py    what a stack is doing
spans.py     samples merged into spans, and their file
sampler.py   the thread that samples
"""

from app.telemetry.timeline.sampler import recorded

__all__ = ["recorded"]
