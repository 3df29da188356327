"""Finds what blocks the event loop of any ASGI app. Only `serve` and `tokens` import more than the standard library:
uvicorn and AnyIO, which the environment of an app has.

watchdog.py     a thread that samples the stack of the loop's thread
ping.py         a callback on the loop, which the watchdog uses to notice that the loop is blocked
findings.py     the locations that blocked the loop
stacks.py       stacks as locations in files, and the location that several samples point to
scheduling.py   how long a thread used a core, and how long it waited for one
cgroup.py       how often the CPU limit throttled the process
loop_delay.py   how much later than scheduled the loop runs a timer
samples.py      the samples of a timeline: each stack once, equal samples in a row as one span
target.py       imports the app from `module:attribute`
serve.py        runs the app with uvicorn under the watchdog
tokens.py       counts the calls that wait for one of AnyIO's threads
errors.py       the error for the user of the command
"""
