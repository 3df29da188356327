"""Any ASGI app, served under the watchdog: what blocks its event loop, and which release shows the cure.

target.py   the app, from `module:attribute`
serve.py    uvicorn under the watchdog
tokens.py   how many wait for one of anyio's threads meanwhile
cures.py    from what is known of a place to releases
text.py     the same as lines
"""
