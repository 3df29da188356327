"""One pyinstrument profile a release, as text and as a flame graph: `python -m profiles.make`."""
