"""The study's shop in a database, for `database` and `orders`: the same rows at every run.

rows     what each table holds: a row is a function of its number
schema   tables, and the indexes that are made once the rows are there
fill     all of it
"""
