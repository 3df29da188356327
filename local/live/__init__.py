"""The live page: what a service does, drawn as it happens, in a process of its own.

A blocked event loop cannot serve its own page, and this one shows that it is blocked. It knows a service by HTTP
alone: its Prometheus text, its /healthz. It listens on loopback only.
"""
