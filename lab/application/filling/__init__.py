"""Fills a database with the users, products and orders of study 3, for the experiments `database` and `orders`.

Every run makes the same rows.

filled_rows     the rows of each table; a row depends only on its number
filled_schema   tables, and the keys and indexes that are created after the rows
fill            fills a database
"""
