"""The rows of the study's four tables, as lines of COPY's text format.

A row depends only on its number, so every run makes the same rows. As in the study, an order belongs to a random user,
and an item belongs to a random order among the first fifth of all orders. So four fifths of the orders have no item,
and more than a third of the users have bought nothing.
"""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_64_BITS = 2**64 - 1
_32_BITS = 2**32 - 1
_FIRST = datetime(2024, 12, 1, tzinfo=UTC)
_YEAR = 365 * 86_400
_WORDS = ("Amber", "Birch", "Cedar", "Delta", "Ember", "Fjord", "Grove", "Heron")
_STATUSES = ("pending", "paid", "cancelled", "refunded")
_MOST_PIECES = 5
_DEAREST = 50_000  # cents
_FIFTH = 5


class RowCounts(NamedTuple):
    """The number of rows of each table, in the order of filling. The defaults are the study's numbers."""

    users: int = 1_000_000
    products: int = 100_000
    orders: int = 5_000_000
    order_items: int = 10_000_000


def scaled(scale: float) -> RowCounts:
    return RowCounts(*(max(_FIFTH, round(count * scale)) for count in RowCounts()))


def lines(table: str, first: int, last: int, counts: RowCounts) -> str:
    """Returns the rows `first` to `last` of a table as text. Row numbers begin at 1, and `last` is included."""
    row = _ROWS[table]
    return "".join(f"{number}\t{row(number, counts)}\n" for number in range(first, last + 1))


def _user(number: int, counts: RowCounts) -> str:
    return f"user_{number}\tuser_{number}@example.com\t{_moment(_draw(number, 1))}"


def _product(number: int, counts: RowCounts) -> str:
    draw = _draw(number, 2)
    title = " ".join(_WORDS[draw >> shift & 7] for shift in (0, 3, 6))
    return f"{title}\t{_price(number)}\t{_moment(draw)}"


def _order(number: int, counts: RowCounts) -> str:
    draw = _draw(number, 3)
    return f"{_one_of(counts.users, draw >> 32)}\t{_STATUSES[draw & 3]}\t{_moment(draw)}"


def _item(number: int, counts: RowCounts) -> str:
    draw = _draw(number, 4)
    order, product = _one_of(counts.orders // _FIFTH, draw >> 32), _one_of(counts.products, draw & _32_BITS)
    return f"{order}\t{product}\t{1 + draw % _MOST_PIECES}\t{_price(product)}\t{_moment(draw)}"


def _draw(number: int, table: int) -> int:
    """Returns 64 pseudo-random bits for a row of a table, by SplitMix64 (https://prng.di.unimi.it/splitmix64.c)."""
    mixed = (number * 8 + table) * 0x9E3779B97F4A7C15 & _64_BITS
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _64_BITS
    return mixed ^ mixed >> 31


def _one_of(count: int, draw: int) -> int:
    """Returns a number from 1 to `count`, selected by `draw`, a random number of 32 bits."""
    return 1 + (draw * count >> 32)


def _price(product: int) -> str:
    cents = 1 + _draw(product, 5) % _DEAREST
    return f"{cents // 100}.{cents % 100:02}"


def _moment(draw: int) -> str:
    return (_FIRST + timedelta(seconds=draw % _YEAR)).isoformat()


_ROWS = {"users": _user, "products": _product, "orders": _order, "order_items": _item}
