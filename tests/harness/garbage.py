"""Runs `python -m app …`. At each SIGUSR1, logs how many objects only the garbage collector can free, by type.

python -m tests.harness.garbage web
"""

import gc
import json
import os
import signal
from collections import Counter
from itertools import count

from app.cli import main

_numbers = count(1)


def _report(*signal_and_frame: object) -> None:
    gc.collect()
    types = Counter(f"{type(found).__module__}.{type(found).__qualname__}" for found in gc.garbage)
    gc.garbage.clear()
    gc.set_debug(0)  # otherwise, the same objects would be found and saved again
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    os.write(2, json.dumps({"message": "garbage", "number": next(_numbers), "types": types}).encode() + b"\n")


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _report)
    gc.set_debug(gc.DEBUG_SAVEALL)
    main()
