"""The table in memory answers as the embedded DynamoDB does: the same operations, drawn by Hypothesis, on both."""

import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.billing import charge_items, claims
from app.billing.charges import Billable
from app.billing.items import Update
from app.billing.schema import set_up
from app.errors import Unprocessable
from local import embedded_aws
from tests.simulation.table import MemoryTable

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

Operation = tuple[str, dict[str, Any]]

few = st.integers(0, 3)
versions = st.none() | few
events, owners, invoices = (st.sampled_from([f"{kind}1", f"{kind}2"]) for kind in ("event", "owner", "invoice"))
keys = st.sampled_from([{"pk": {"S": "p"}, "sk": {"S": sort}} for sort in ("a", "aa", "b")])
scalars = st.integers(-3, 12).map(lambda one: {"N": str(one)}) | st.sampled_from("aébx").map(lambda one: {"S": one})


@st.composite
def production(draw: st.DrawFn) -> Update:
    """An update of the production code, on one of two events or invoices, by one of two owners."""
    event, owner, invoice, until = draw(events), draw(owners), draw(invoices), draw(few)
    other = draw(invoices)
    usage = Billable("b", draw(few), "Usage", 7, customer_id="customer", subscription_id=draw(st.none() | st.just("s")))
    choices = [
        claims.claim(event, owner, until=until, free=draw(few), expires=9),
        claims.recorded(event, owner, "recorded", expires=9),
        claims.take_invoice(invoice, event, owner, draw(versions), until=until, free=draw(few), expires=9),
        claims.processed(invoice, owner, draw(versions), expires=9),
        claims.done(event, owner, "closed", expires=9),
        *claims.renewals(event, invoice, owner, until),
        charge_items.reserved(usage, invoice, draw(few)),
        charge_items.reserved(replace(usage, invoice_id=other, billed_at=1, closed_as=other), invoice, draw(few)),
        charge_items.billed(replace(usage, invoice_id=invoice), other, 1),
        charge_items.freed(replace(usage, invoice_id=invoice), "reason", event, 1),
        charge_items.released(replace(usage, invoice_id=invoice)),
        charge_items.set_aside("customer", usage.suffix, "reason", event, draw(few)),
        charge_items.taken_aside(replace(usage, invoice_id=other, billed_at=1, closed_as=other), "reason", event, 1),
        claims.reopened(event, "code", expires=9),
        claims.failed(event, owner, Unprocessable("detail", "code"), invoice, "7"),
        claims.invoice_released(invoice, owner),
        claims.claim_released(event, owner, "code", draw(versions), judged=draw(st.booleans())),
    ]
    return draw(st.sampled_from(choices))


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> str:
    """A condition over the attributes `#a` and `#b`, with the values `:s`, `:low` and `:high`."""
    name = draw(st.sampled_from(["#a", "#b"]))
    if depth and draw(st.booleans()):
        left, right = draw(conditions(depth - 1)), draw(conditions(depth - 1))
        return draw(st.sampled_from([f"({left}) AND ({right})", f"{left} OR {right}", f"NOT ({left})"]))
    compared = draw(st.sampled_from(["=", "<", "<=", ">", ">="]))
    return draw(
        st.sampled_from(
            [
                f"attribute_exists({name})",
                f"attribute_not_exists({name})",
                f"attribute_type({name}, :type)",
                f"{name} {compared} :low",
                f"{name} BETWEEN :low AND :high",
                f"{name} IN (:s, :low)",
            ]
        )
    )


CHANGES = ("SET #a = :s", "SET #a = :low, #b = :s", "REMOVE #a")
# The embedded DynamoDB answers 500 if an operand is not a number. In a transaction, it calculates before it checks the
# condition. So these conditions require numbers, like the condition of the rate limit, and transactions calculate
# nothing, as in production.
NUMBERS = "attribute_type(#a, :number) AND attribute_type(#b, :number)"
CALCULATED = ("SET #b = #b + :n", "SET #b = :n ADD #a :n", "SET #a = #b - :n")


@st.composite
def updates(draw: st.DrawFn, calculated: bool = False) -> Update:
    """An update with any condition, and a change of CHANGES, or of CALCULATED if `calculated` is True."""
    low = draw(st.integers(-2, 3))
    values: dict[str, Any] = {
        "s": draw(st.sampled_from(["a", "ab", "b"])),
        "type": draw(st.sampled_from("SN")),
        "number": "N",
        "low": low,
        "high": low + draw(few),
        "n": Decimal(draw(st.sampled_from(["1", "-2", "0.5"]))),
    }
    condition, change = draw(conditions()), draw(st.sampled_from(CHANGES))
    if calculated:
        condition, change = f"({condition}) AND {NUMBERS}", draw(st.sampled_from(CALCULATED))
    used = set(re.findall(r":(\w+)", f"{change} {condition}"))
    return Update(draw(keys), change, condition, **{name: values[name] for name in used})


def _query(low: str, high: str, invoice: str) -> dict[str, Any]:
    begins = low == high
    sort = "begins_with(#sk, :low)" if begins else "#sk BETWEEN :low AND :high"
    return {
        "KeyConditionExpression": f"#pk = :pk AND {sort}",
        "FilterExpression": "attribute_not_exists(#a) OR #a IN (:a, :empty) OR NOT attribute_type(#a, :text)",
        "ExpressionAttributeNames": {"#pk": "pk", "#sk": "sk", "#a": "a"},
        "ExpressionAttributeValues": {
            f":{name}": {"S": value}
            for name, value in {
                "pk": "p",
                "low": low,
                **({} if begins else {"high": high}),
                "a": invoice,
                "empty": "",
                "text": "S",
            }.items()
        },
    }


def _transaction(many: list[Update]) -> list[Update]:
    return list({str(update.key): update for update in many}.values())


changes = production() | updates()
sorts = st.sampled_from([("a", "a"), ("a", "aa"), ("a", "b"), ("aa", "b")])
queries = st.builds(lambda ends, invoice: _query(ends[0], ends[1], invoice), sorts, st.sampled_from(["a", "ab"]))
operations = st.one_of(
    st.tuples(st.just("update_item"), production()),
    st.tuples(st.just("update_item"), updates() | updates(calculated=True)),
    st.tuples(st.just("transact_write_items"), st.lists(changes, min_size=2, max_size=4).map(_transaction)),
    st.tuples(st.just("query"), queries),
    st.tuples(st.just("put_item"), st.builds(lambda key, a, b: {**key, "a": a, "b": b}, keys, scalars, scalars)),
)


class Both:
    """The embedded table and the table in memory."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self._real: Any = client
        self.name = f"simulation-{uuid.uuid4().hex}"
        set_up(self.name)
        self._memory = MemoryTable()

    def compare(self, operation: str, given: Any) -> None:
        """Performs an operation on both tables and asserts that the answers are the same."""
        parameters = self._parameters(operation, given)
        if operation == "put_item":
            self._real.put_item(TableName=self.name, Item=given)
            self._memory.put(given)
        else:
            assert _answer(self._real, operation, parameters) == _answer(self._memory, operation, parameters)

    def compare_items(self) -> None:
        found = self._real.scan(TableName=self.name, ConsistentRead=True)["Items"]
        assert sorted(map(_normal, found), key=str) == sorted(map(_normal, self._memory.items.values()), key=str)

    def clear(self) -> None:
        for item in self._real.scan(TableName=self.name)["Items"]:
            self._real.delete_item(TableName=self.name, Key={"pk": item["pk"], "sk": item["sk"]})
        self._memory = MemoryTable()

    def _parameters(self, operation: str, given: Any) -> dict[str, Any]:
        match operation:
            case "update_item":
                return {**given.parameters(self.name), "ReturnValues": "ALL_NEW"}
            case "transact_write_items":
                return {"TransactItems": [{"Update": update.parameters(self.name)} for update in given]}
            case "query":
                return {"TableName": self.name, "ConsistentRead": True, **given}
        return {}


def _answer(table: Any, operation: str, parameters: dict[str, Any]) -> Any:
    """Returns the answer or the error without texts and metadata, in which the two implementations may differ."""
    try:
        answer = getattr(table, operation)(**parameters)
    except ClientError as error:
        response: Any = error.response
        reasons = [
            (reason["Code"], _normal(reason.get("Item", {}))) for reason in response.get("CancellationReasons", ())
        ]
        return response["Error"]["Code"], _normal(response.get("Item", {})), reasons
    return _normal(answer.get("Attributes", {})), [_normal(item) for item in answer.get("Items", ())]


def _normal(item: dict[str, Any]) -> dict[str, Any]:
    """Returns an item with numbers instead of their texts."""
    return {name: Decimal(value["N"]) if "N" in value else value for name, value in sorted(item.items())}


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    with embedded_aws.start() as embedded, pytest.MonkeyPatch.context() as patch:
        for name, value in embedded.environment().items():
            patch.setenv(name, value)
        client = boto3.client("dynamodb", config=Config(retries={"total_max_attempts": 1}))
        yield Both(client)
        client.close()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(many=st.lists(operations, min_size=5, max_size=15))
def test_the_table_answers_as_dynamodb_does(both: Both, many: list[Operation]) -> None:
    """Updates of claims and leases, queries, and arbitrary expressions have the same answers, errors and items."""
    both.clear()
    for operation, given_ in many:
        both.compare(operation, given_)
    both.compare_items()
