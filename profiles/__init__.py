"""One pyinstrument profile a release, as text and perhaps as a flame graph: `python -m profiles.make`."""
