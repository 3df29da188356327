"""Defines a billable event (usage that a customer must pay for), which a local run writes into the DynamoDB table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SeededBillable:
    """A billable event of a customer. `amount` is in minor units, such as cents; `occurred_at` is a unix time.

    `currency` and `subscription_id` are None if the event does not name them.
    """

    id: str
    customer_id: str
    amount: int
    description: str
    occurred_at: int
    currency: str | None = None
    subscription_id: str | None = None

    def item(self) -> dict[str, dict[str, str]]:
        """Returns the billable event as a usage item of the table, in DynamoDB's JSON format.

        `app.billing` describes the items of the table. Writing the same item again is harmless at any time, because
        `app.billing` stores its own data about the usage in another item, the charge item.
        """
        named = {"currency": self.currency, "subscription_id": self.subscription_id}
        return {
            "pk": {"S": f"customer#{self.customer_id}"},
            "sk": {"S": f"billable#{self.occurred_at:010}#{self.id}"},
            "id": {"S": self.id},
            "amount": {"N": str(self.amount)},
            "description": {"S": self.description},
            "occurred_at": {"N": str(self.occurred_at)},
            **{name: {"S": value} for name, value in named.items() if value is not None},
        }
