"""The live page: charts of what a service is doing, from a separate process.

A service whose event loop is blocked could not serve this page; a separate process can show that the loop is blocked.
The page's process reads only the service's Prometheus text and /healthz, and listens on loopback only.
"""
