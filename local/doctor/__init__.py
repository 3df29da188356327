"""Adds this project's releases to the findings of `asgi_doctor`, which finds code that blocks the event loop.

doctored_releases.py   finds the releases that show how to cure a finding
"""
