"""Posts the same number of webhooks to several releases, and draws a timeline of how each release handles them.

recording.py    starts a release, posts webhooks, and reads the timeline that the release has recorded
state_spans.py  converts the recorded stacks to spans of time, each with one state such as "waiting for SQS"
compared_states.py       finds the state of a thread or task from its stack
compared_rows.py         cuts and groups the timeline's rows for display
styles.py       defines the letter and the colours of each state
compared_terminal.py     draws the rows with letters
svg.py          draws the rows as a picture
"""
