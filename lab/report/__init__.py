"""Writes the results of the lab's measurements: lab.html, pictures, and parts of docs/lab.md and docs/questions."""
