"""Formats measurements for the terminal, as a page, and for README, CHANGELOG and RESULTS.md.

show.py        the report that attack.sh prints at the end; meaning.py explains its figures
cells.py       Markdown tables and their cells, for all reports
tables.py      the tables of `python -m loadtest history` and `calibrated`; ratios.py: the tables of `bench`
overview.py    the first table of RESULTS.md
captions.py    the captions of tables and pictures
overload_report.py    the table of `python -m loadtest overload`
soak_report.py        the result of `python -m loadtest soak` as text
fault_tables.py       the tables of RESULTS.md about overload and faults; index_table.py: the list of all results
numbers.py     functions that return figures for the prose of documents
charts.py      charts in Vega-Lite, with the colours of theme.py; bar_charts.py: charts of one value for each release
capacity.py    the table of deploy/CAPACITY.md, computed from capacity_figures.py; languages.py: the table of rewrite.md
capacity_chart.py   the chart of webhooks per second on a quarter of a core
dots.py        an SVG of every request of one attack, for attack.sh, which works without Altair
over_time.py   PNGs of every request of one or more attacks, drawn from the charts of request_charts.py
page.py        report.html, the page with the charts and tables of `python -m loadtest history`
pictures.py    SVGs of charts for README and RESULTS.md
documents.py   the generated parts of CHANGELOG, RESULTS.md and docs/operating.md; readme.py: those of README
score_table.py      the table in each chapter of CHANGELOG
figures.py     the published figures, and access to a measurement's fields by name
"""
