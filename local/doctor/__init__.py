"""Joins the findings of `asgi_doctor` with the course.

releases.py   finds the releases of this project that show how to cure a finding
"""
