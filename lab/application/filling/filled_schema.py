"""The study's tables, and the keys and indexes that `fill` creates after the rows."""

from typing import NamedTuple

TABLES = {
    "users": """
        id bigint NOT NULL,
        name text NOT NULL,
        email text NOT NULL,
        created_at timestamptz NOT NULL""",
    "products": """
        id bigint NOT NULL,
        title text NOT NULL,
        unit_price numeric(10, 2) NOT NULL,
        created_at timestamptz NOT NULL""",
    "orders": """
        id bigint NOT NULL,
        user_id bigint NOT NULL,
        status text NOT NULL,
        created_at timestamptz NOT NULL""",
    "order_items": """
        id bigint NOT NULL,
        order_id bigint NOT NULL,
        product_id bigint NOT NULL,
        quantity integer NOT NULL CHECK (quantity > 0),
        unit_price numeric(10, 2) NOT NULL,
        created_at timestamptz NOT NULL""",
}


class Finish(NamedTuple):
    """A statement that runs after all rows are loaded, and the table whose rows the statement reads."""

    table: str
    statement: str


FINISHES = (
    *(Finish(table, f"ALTER TABLE {table} ADD PRIMARY KEY (id)") for table in TABLES),
    Finish("users", "ALTER TABLE users ADD UNIQUE (email)"),
    Finish("orders", "CREATE INDEX ON orders (user_id)"),
    Finish("order_items", "CREATE INDEX ON order_items (order_id, product_id)"),
    Finish("order_items", "CREATE INDEX ON order_items (product_id)"),
    Finish("orders", "ALTER TABLE orders ADD FOREIGN KEY (user_id) REFERENCES users (id)"),
    Finish("order_items", "ALTER TABLE order_items ADD FOREIGN KEY (order_id) REFERENCES orders (id)"),
    Finish("order_items", "ALTER TABLE order_items ADD FOREIGN KEY (product_id) REFERENCES products (id)"),
)
