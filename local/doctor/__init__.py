"""Adds this project's releases to the findings of `asgi_doctor`.

releases.py   finds the releases that show how to cure a finding
"""
