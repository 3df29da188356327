"""Output of measurements: in a terminal, as a page, and in README and CHANGELOG.

show.py        the report that attack.sh prints
tables.py      Markdown tables of the history; ratios.py: of CPU, within one run
overload.py    the table of `python -m loadtest overload`
memory.py, shares.py, soak.py   the results of the commands of these names, as text
charts.py      Vega-Lite, in the colours of theme.py; bar_charts.py: one value of each release
over_time.py   a picture of every request of an attack; request_charts.py: its chart
page.py        report.html
pictures.py    SVGs of the same charts
documents.py   the generated parts of README and CHANGELOG
figures.py     the published figures, and those of a measurement by name
"""
