"""Tests that generated events are distinct, of the same size, and valid."""

import itertools
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from app.errors import ConfigurationError
from local.sample_events import SAMPLES, fresh_events, fresh_events_of


@pytest.mark.parametrize("file", sorted(SAMPLES.glob("*.json")), ids=lambda file: file.stem)
def test_fresh_events(file: Path) -> None:
    """A thousand events from each sample have new ids, the same size, and no other change."""
    template = file.read_bytes()
    bodies = list(fresh_events(template, 1000))
    events = [json.loads(body) for body in bodies]
    assert {len(body) for body in bodies} == {len(template)}
    assert len({event["id"] for event in events} | {json.loads(template)["id"]}) == 1001
    old = json.loads(template)
    for event, body in zip(events[:3], bodies[:3], strict=True):
        if "invoice" in old["content"]:
            assert event["content"]["invoice"]["id"] != old["content"]["invoice"]["id"]
        restored = body
        # The longest first, because it may contain a shorter one.
        pairs = sorted(zip(_ids(event), _ids(old), strict=True), key=lambda pair: -len(pair[0]))
        for new, was in pairs:
            restored = restored.replace(new.encode(), was.encode())
        assert restored == template


def _ids(event: Any) -> list[str]:
    """Returns the ids of the event, of its invoice and of its customer, if the event has them."""
    invoice = event["content"].get("invoice", {})
    return [event["id"], *(invoice[name] for name in ("id", "customer_id") if name in invoice)]


def test_two_runs_share_no_id() -> None:
    """Two runs have different ids. Otherwise, the second audit would find the first run's messages."""
    template = (SAMPLES / "default.json").read_bytes()
    first, second = ({json.loads(body)["id"] for body in fresh_events(template, 100)} for _ in range(2))
    assert not first & second


def test_events_are_made_one_at_a_time() -> None:
    """`fresh_events` makes one event at a time, so a thousand events need less memory than a hundred of them would."""
    template = (SAMPLES / "default.json").read_bytes()
    events = fresh_events(template, 1000)
    tracemalloc.start()
    assert sum(len(body) for body in events) == 1000 * len(template)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * len(template)


@pytest.mark.slow
def test_a_quarter_of_a_million() -> None:
    """`fresh_events` can make more events than a load test sends."""
    template = (SAMPLES / "default.json").read_bytes()
    late = next(itertools.islice(fresh_events(template, 300_000), 250_000, None))
    assert len(late) == len(template)


@pytest.mark.parametrize(
    "template",
    [
        *(b"", b"[]", b"{}", b'{"id": "ev_1", "content": {}}', b'{"id": 5, "content": {}}'),
        b'{"id": "ev_0123456789", "content": {"invoice": {"id": 5}}}',
        b"[" * 100_000,
    ],
    ids=lambda template: template[:60].decode(),
)
def test_what_is_no_template(template: bytes, tmp_path: Path) -> None:
    """A file from which no fresh events can be made is rejected by its name."""
    file = tmp_path / "template.json"
    file.write_bytes(template)
    with pytest.raises(ConfigurationError, match=f"^{file}: the "):
        next(fresh_events_of([file], 1))
