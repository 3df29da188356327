"""Implements Chargebee's operation List Subscriptions.

https://apidocs.chargebee.com/docs/api/subscriptions/list-subscriptions documents the operation.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from local.chargebee import api_errors
from local.chargebee.invoice import StoredInvoice
from local.chargebee.params import matches, page

_FILTER = re.compile(r"(id|customer_id|status)\[(\w+)\]")
_OTHERS = {"limit", "offset"}


class Subscriptions:
    """Stores the subscriptions of a site by id, the newest at the end.

    The subscriptions of registered invoices are active, unless `put` has stored another status.
    """

    def __init__(self) -> None:
        self._stored: dict[str, dict[str, Any]] = {}

    def found_on(self, invoice: StoredInvoice) -> None:
        """Adds the invoice's subscriptions, except those that are already stored."""
        for name, term in invoice.terms.items():
            if name not in self._stored:
                started = {"started_at": term.date_from, "created_at": term.date_from}
                self.put({"id": name, "customer_id": term.customer_id, "status": "active", **started})

    def put(self, document: dict[str, Any]) -> None:
        """Stores `document`, a subscription in Chargebee's format. Replaces a stored subscription with the same id.

        Raises ApiError if `document` has no `id`, `customer_id` or `status`.
        """
        for name in ("id", "customer_id", "status"):
            if not isinstance(document.get(name), str):
                raise api_errors.wrong_value(name, "every subscription must have this field")
        self._stored[document["id"]] = {"object": "subscription", "deleted": False} | document

    def status(self, subscription_id: str) -> str:
        """Returns the status of the subscription. Raises ApiError (404) if it does not exist."""
        if subscription_id not in self._stored:
            raise api_errors.not_found(subscription_id)
        return str(self._stored[subscription_id]["status"])

    def page(self, params: Mapping[str, str]) -> bytes:
        """Returns a page of the subscriptions that match the filters in `params`, the newest first."""
        tests = [_test(name, params) for name in params if name not in _OTHERS]
        found = [one for one in reversed(self._stored.values()) if all(test(one) for test in tests)]
        return page(found, params, _entry)


def _entry(subscription: dict[str, Any]) -> bytes:
    """Returns the subscription as an entry of a page. Chargebee's own entries contain more data of the customer."""
    customer = {"id": subscription["customer_id"], "object": "customer"}
    return orjson.dumps({"subscription": subscription, "customer": customer})


def _test(name: str, params: Mapping[str, str]) -> Any:
    found = _FILTER.fullmatch(name)
    if found is None:
        raise api_errors.wrong_value(name, "is not a filter that the stand-in supports")
    field, operator = found.groups()
    test = matches(name, operator, params)
    return lambda subscription: test(subscription[field])
