"""The process must not crash if the watchdog reads frames while their thread continues."""

import subprocess
import sys

# The thread runs generators, because the memory of their frames is reused at once. A callback of each garbage
# collection sleeps, so that the thread continues.
RUNS_ON = """if True:
    import gc, threading, time
    from asgi_doctor.garbage import without_collections
    from asgi_doctor.greenlets import frames_of_thread

    def generate(depth):
        time.sleep(0.0002)
        yield
        if depth:
            yield from generate(depth - 1)

    def read():
        for _ in range(500):
            with without_collections():
                lines.append([(frame.f_code.co_name, frame.f_lineno) for frame in frames_of_thread(main)])

    lines, main = [], threading.get_ident()
    gc.set_threshold(3)
    gc.callbacks.append(lambda *_: time.sleep(0.001) if threading.get_ident() != main else None)
    reader = threading.Thread(target=read)
    reader.start()
    depth = 0
    while reader.is_alive():
        depth = (depth + 1) % 7
        list(generate(depth))
        exec("def one():\\n time.sleep(0.0003)\\n" + " number = 0\\n" * depth, globals())
        one()
    print(len(lines), gc.isenabled())
"""


def test_frames_of_a_thread_that_runs_on() -> None:
    ended = subprocess.run([sys.executable, "-c", RUNS_ON], capture_output=True, encoding="utf-8", check=True)
    assert ended.stdout == "500 True\n", ended.stderr
