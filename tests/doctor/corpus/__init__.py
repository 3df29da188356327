"""The corpus: one file per application, with a planted fault or none. README.md describes the format."""
