"""The same webhooks posted to several releases, each recorded as a timeline.

run.py       starts a release, posts, and reads its timeline
timeline.py  the recorded stacks as spans of time in a state
states.py    what a stack is doing
rows.py      the timeline's rows as they are shown: sent, waited, answered
look.py      a letter and colours for each state
text.py      for a terminal
svg.py       as a picture
"""
