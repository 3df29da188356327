"""Makes the course's profiles, timelines and pictures.

make.py       each release's pyinstrument profile as text, and as a flame graph (flame.py) unless it shows only a wait
timelines.py  timelines of one or two releases
latencies.py  pictures of load tests: when each request was sent, and the latency of its response
live.py       pictures of the live page, which `python -m local` serves
doctor.py     pictures of asgi-doctor's output
race.py       an animated picture of the live page: two releases under the same webhooks
one_webhook/  the Python calls, awaits and tasks of one webhook
instruments/  the service with a profiler, a timeline, or additional CPU time for each request
shapes.py     rectangles and texts of SVG pictures
"""
