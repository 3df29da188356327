"""Draws what one webhook costs under several releases: Python calls, awaits and tasks, counted in the real service.

__main__.py   the command `python -m profiles.one_webhook`
run.py        starts the service and the embedded queue, and posts the webhook
traced.py     runs the service in a child process that counts between two signals
counter.py    counts calls, awaits and tasks of one thread
stages.py     assigns each call to a stage of the webhook
picture.py    draws the stages
"""
