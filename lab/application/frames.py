"""Reads a user's products and orders as polars DataFrames, through a NativePool or a BlockingPool."""

from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from lab.application.connection_pools import BlockingPool, NativePool

if TYPE_CHECKING:
    import polars as pl

PRODUCTS = """
    SELECT products.id, products.title, order_items.quantity, order_items.unit_price
    FROM orders
    JOIN order_items ON order_items.order_id = orders.id
    JOIN products ON products.id = order_items.product_id
    WHERE orders.user_id = %s
    ORDER BY order_items.id"""
ORDERS = """
    SELECT orders.id, orders.status, order_items.quantity
    FROM orders
    LEFT JOIN order_items ON order_items.order_id = orders.id
    WHERE orders.user_id = %s
    ORDER BY orders.id, order_items.id"""
# The columns of each query's frame. They are listed here, because polars cannot infer them if there are no rows.
_COLUMNS = {PRODUCTS: ("id", "title", "quantity", "unit_price"), ORDERS: ("id", "status", "quantity")}


async def native_frame(pool: NativePool, query: str, user: int) -> "pl.DataFrame":
    async with pool.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(query.encode(), (user,))
        return _frame(query, await cursor.fetchall())


def blocking_frame(pool: BlockingPool, query: str, user: int) -> "pl.DataFrame":
    with pool.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(query.encode(), (user,))
        return _frame(query, cursor.fetchall())


def _frame(query: str, rows: list[dict[str, Any]]) -> "pl.DataFrame":
    import polars as pl  # takes 0.6 s and starts threads, so only requests for orders import polars

    return pl.DataFrame(rows, dict.fromkeys(_COLUMNS[query]) | {"quantity": pl.Int64})
