"""Explains what `asgi_doctor` has found: what each line does, and which releases of this project show a cure.

cures.py    chooses the cure for a line
report.py   formats findings and cures as lines
"""
