"""Finds the operation of a request to the API, and reads the request."""

from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from starlette.requests import Request

PREFIX = "/api/v2"
BY_HAND = "/_/by_hand"
# The method and the name of each operation, by path. `*` stands for the id of an invoice or subscription.
_PATHS = {
    "events": ("GET", "list_events"),
    "invoices": ("GET", "list_invoices"),
    "invoices/*": ("GET", "retrieve"),
    **{
        f"invoices/*/{operation}": ("POST", operation)
        for operation in ("add_charge", "close", "void", "delete", "delete_line_items")
    },
    "subscriptions": ("GET", "list_subscriptions"),
    "subscriptions/*/regenerate_invoice": ("POST", "regenerate_invoice"),
}
_CHANGES = {operation for method, operation in _PATHS.values() if method == "POST"}


class Call(NamedTuple):
    """A call of an operation. `resource`: the id of the invoice or subscription in the path, or "" without an id."""

    operation: str
    resource: str
    path: str
    body: bytes
    params: dict[str, str]
    key: str | None

    @property
    def changes(self) -> bool:
        return self.operation in _CHANGES

    @property
    def locked(self) -> str:
        """Returns the path of the invoice or subscription, which is locked while this call changes it."""
        return self.path.rpartition("/")[0]


def route(request: Request) -> tuple[str, str]:
    """Returns the name of the operation, and the id of the invoice or subscription in the path.

    The id is empty if the path contains none. If no operation has this path, the name is `unknown`. If the operation
    with this path needs another HTTP method, the name is `wrong_method`, and the id is empty. An id may contain any
    character, even a slash. Therefore, the path is split before it is percent-decoded.
    """
    path = request.scope["raw_path"].decode("ascii", "replace")
    resources, *rest = path.removeprefix(f"{PREFIX}/").removeprefix(f"{BY_HAND}/").split("/")
    shape = "/".join([resources, *("*" for _ in rest[:1]), *rest[1:]])
    method, operation = _PATHS.get(shape, ("", "unknown"))
    if method and method != request.method.replace("HEAD", "GET"):
        return "wrong_method", ""
    return operation, unquote(rest[0]) if rest else ""


async def read(request: Request, operation: str, resource: str) -> Call:
    """Reads the request. The parameters of a POST are in its body, and the parameters of a GET are in its query."""
    body = await request.body()
    query = request.url.query if request.method != "POST" else body.decode(errors="replace")
    key = request.headers.get("chargebee-idempotency-key") if request.method == "POST" else None
    params = dict(parse_qsl(query, keep_blank_values=True))
    return Call(operation, resource, request.scope["raw_path"].decode("ascii", "replace"), body, params, key)
