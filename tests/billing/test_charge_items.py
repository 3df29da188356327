"""A charge item has the key of its usage item, and a snapshot of what is charged."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.billing import charge_items
from app.billing.charges import Billable, billable_key, idempotency_key
from app.billing.items import Update, typed
from app.billing.references import described
from tests.billing.test_charges import IDS, SECONDS, TEXTS


def _written(update: Update) -> dict[str, dict[str, str]]:
    """Returns the item that the update writes into an empty table."""
    names = update.change.partition(" REMOVE ")[0].removeprefix("SET ").split(", ")
    pairs = [name.replace("#", "").split(" = :") for name in names]
    return {**update.key, **{name: typed(update.values[value]) for name, value in pairs}}


@given(IDS, TEXTS, SECONDS, st.none() | st.just("EUR"), st.none() | st.just("sub"))
def test_a_billable_event_survives_its_charge_item(
    name: str, text: str, at: int, currency: str | None, subscription: str | None
) -> None:
    """A charge item, read again, makes the same charge as the usage item."""
    usage = Billable(name, 7, text, at, customer_id="c", currency=currency, subscription_id=subscription)
    item = _written(charge_items.reserved(usage, "inv", 9))
    found = charge_items.read("c", item)
    assert described(found) == described(usage)
    assert found == replace(usage, description=found.description, invoice_id="inv", reserved_at=9)
    assert not charge_items.differs(usage, found)
    assert charge_items.differs(replace(usage, amount=8), found)
    assert item["sk"]["S"].removeprefix("charge#") == billable_key("c", usage)["sk"]["S"].removeprefix("billable#")


def test_two_customers_with_the_same_usage_have_two_keys() -> None:
    """In an account hierarchy, usage of two customers may have one id and one time, and be on one invoice."""
    one, other, third = (Billable("b", 1, "", 4, "inv", 9, customer_id=name) for name in ("owner", "child", "another"))
    used = [one, replace(other, payer="owner"), replace(third, payer="owner")]
    keys = [idempotency_key("ev", "add_charge", billable) for billable in used]
    assert keys[0] == "ev-add_charge@4-b"
    assert len(set(keys)) == len(used)
