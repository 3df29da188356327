"""One pyinstrument profile a release, as HTML and as text: `make profiles`."""
