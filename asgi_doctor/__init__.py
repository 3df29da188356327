"""What blocks the event loop of any ASGI app. Imports only the standard library; `serve` and `tokens` run the app with
uvicorn and AnyIO, which the app's environment has.

watchdog.py     a thread that samples the stack of the loop's thread
stacks.py       stacks as places in files, and the place that several samples have in common
samples.py      what a timeline keeps of its samples: each stack once, and from when to when something had it
turn.py         one turn of the event loop
findings.py     the places that held the loop
scheduling.py   how long a thread computed, and how long it waited for a core
cgroup.py       the throttling of the process's CPU limit
loop_delay.py   how much later than scheduled the loop runs a timer
target.py       the app, from `module:attribute`
serve.py        uvicorn under the watchdog
tokens.py       how many calls wait for one of AnyIO's threads meanwhile
"""
