"""Explains what `asgi_doctor` has found: why each line blocks, and which releases of this project show how to fix it.

cures.py    chooses the fix for a line that blocks the event loop (a `Cure`)
report.py   formats the findings and the fixes as lines of text
"""
