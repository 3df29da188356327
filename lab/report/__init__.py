"""Writes the results of the lab's measurements: lab.html, pictures, and the generated parts of docs/."""
