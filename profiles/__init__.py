"""One pyinstrument profile a release, as HTML and as text: `python -m profiles.make`."""
