"""Serves the live page: a web page with charts of what a service is doing at the moment.

A separate process serves the page. A service whose event loop is blocked could not serve the page, but the separate
process can show that the event loop is blocked. The process reads the service's metrics, probes /healthz, and does what
the page's buttons request. It listens on loopback only.
"""
