"""The hostile names with which `python -m loadtest billing` tests how the worker recognises charges."""

from loadtest.fire.deliveries import ODD, deliveries
from loadtest.fire.hostile import TWINS
from local.usage_events import SeededBillable


def test_two_events_of_one_id_are_among_them() -> None:
    """Some customers have two billable events with one id. Their amounts differ, so the audit can distinguish them."""
    planned = deliveries(400, 3, ODD)
    owners: dict[str, list[SeededBillable]] = {}
    for one in (one for some in planned.charges.values() for one in some):
        owners.setdefault(one.owner, []).append(one.billable)
    twins = [some for some in owners.values() if len({one.id for one in some}) < len(some)]
    assert 0 < len(twins) < 2 * TWINS * len(owners)
    assert all(len({(one.id, one.amount) for one in some}) == len(some) for some in owners.values())


def test_lines_imitate_references_and_keep_their_period() -> None:
    """The subscription's lines have other descriptions, and the additional ad-hoc line has a longer period."""
    planned = deliveries(400, 3, ODD)
    for event in planned.events:
        *own, foreign = event["content"]["invoice"]["line_items"]
        assert foreign["entity_type"] == "adhoc"
        assert foreign["date_from"] < min(line["date_from"] for line in own)
        assert foreign["date_to"] > max(line["date_to"] for line in own)
    names = {line["description"] for event in planned.events for line in event["content"]["invoice"]["line_items"]}
    assert any(name.startswith("Usage [billable:") for name in names)


def test_usage_that_is_not_to_be_charged() -> None:
    """The table also has, for each customer, two events of other years and one of another currency, all distinct."""
    planned = deliveries(400, 3, ODD)
    charged = sum(map(len, planned.charges.values()))
    owners = {event["content"]["invoice"]["customer_id"] for event in planned.events}
    assert len(planned.billables) == charged + 3 * len(owners)
    keys = {(one.customer_id, one.occurred_at, one.id) for one in planned.billables}
    assert len(keys) == len(planned.billables)
