"""Writes the results of the lab's measurements: lab.html, its pictures, and the generated parts of docs/lab.md."""
