"""Makes the course's profiles, timelines and pictures.

make.py       a pyinstrument profile of each release, as text and, if it does not only wait, as a flame graph (flame.py)
timelines.py  timelines of one or two releases
latencies.py  pictures of attacks
live.py       pictures of the live page
race.py       the moving picture of a race
one_webhook/  the Python calls, awaits and tasks of one webhook
instruments/  the service with a profiler, a timeline, or CPU time for each request
shapes.py     rectangles and texts of SVG pictures
"""
