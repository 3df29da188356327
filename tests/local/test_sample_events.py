"""Tests that generated events are distinct, of the same size, and valid."""

import json
from pathlib import Path
from typing import Any

import pytest

from local.sample_events import SAMPLES, fresh_events


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
