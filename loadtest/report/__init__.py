"""Output of measurements: in a terminal, as a page, and in README, CHANGELOG and RESULTS.md.

show.py        the report that attack.sh prints; meaning.py: what the figures of this report mean
cells.py       Markdown tables and their cells, for all reports
tables.py      Markdown tables of the history; ratios.py: Markdown tables of ratios of CPU time within one run
overview.py    the first table of RESULTS.md
captions.py    the captions of tables and pictures
overload_report.py    the table of `python -m loadtest overload`
soak_report.py        a soak as text
fault_tables.py       tables of RESULTS.md about overload and faults; index_table.py: of the index
numbers.py     functions that prose uses to quote figures
charts.py      Vega-Lite, in the colours of theme.py; bar_charts.py: one value of each release
capacity_chart.py   the chart of webhooks per second on a quarter of a core
dots.py        a picture of every request of one attack, for attack.sh, which has no Altair
over_time.py   pictures of every request of one attack or more; request_charts.py: their charts
page.py        report.html
pictures.py    SVGs of the same charts
documents.py   the generated parts of README, CHANGELOG and RESULTS.md
figures.py     the published figures, and access to the figures of a measurement by name
"""
