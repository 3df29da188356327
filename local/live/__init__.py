"""Serves the live page: a web page with charts of what a service is doing at the moment.

A separate process serves the page. A service whose event loop is blocked could not serve it, but the separate process
can show that the event loop is blocked. The process only reads the service's metrics and requests /healthz, and listens
on loopback only.
"""
