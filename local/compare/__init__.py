"""Posts the same number of webhooks to several releases, and draws a timeline of how each release handles them.

recording.py    starts a release, posts webhooks, and reads the timeline that the release has recorded
state_spans.py  converts the recorded stacks to spans of time, each with one state such as "waiting for SQS"
states.py       finds the state of a thread or task from its stack
rows.py         cuts and groups the timeline's rows for display
styles.py       defines the letter and the colours of each state
terminal.py     draws the rows with letters
svg.py          draws the rows as a picture
"""
