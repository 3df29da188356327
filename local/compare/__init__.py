"""Posts the same webhooks to several releases, and shows as a timeline how each release handles them.

recording.py    starts a release, posts, and reads the recorded timeline
state_spans.py  converts recorded stacks to time spans in a state
states.py       finds the state that a stack shows
rows.py         cuts and groups the timeline's rows for display
styles.py       a letter and colours for each state
terminal.py     draws the rows with letters
svg.py          draws the rows as a picture
"""
