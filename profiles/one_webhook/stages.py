"""Assigns each call of a trace to a stage of the webhook.

A call of a function to which `functions.py` gives no stage belongs to the stage of its caller. If the caller is the
event loop, the call belongs to the stage of the call before it or, if there is none, to the first stage.
"""

from collections import Counter

from profiles.instruments.functions import Stage, stage_of
from profiles.one_webhook.counter import Trace

# In this function, FastAPI builds a response for dependencies. That response is not the webhook's answer, so the calls
# that this function makes get the function's own stage instead of ANSWER.
_DEPENDENCIES = "solve_dependencies"


def calls_by_stage(trace: Trace) -> dict[Stage, int]:
    """Returns the number of calls in each stage that has calls, in the order of `Stage`."""
    counts = Counter(stage for stage, call in zip(_stages(trace), trace.calls, strict=True) if call.began)
    return {stage: counts[stage] for stage in Stage if counts[stage]}


def _stages(trace: Trace) -> list[Stage]:
    """Returns the stage of each call. `call.caller` is None if the event loop called the function."""
    found: list[Stage] = []
    before = Stage.READ
    for call in trace.calls:
        if call.caller is None:
            before = stage_of(call.file, call.function) or before
        elif trace.calls[call.caller].function == _DEPENDENCIES:
            before = found[call.caller]
        else:
            before = stage_of(call.file, call.function) or found[call.caller]
        found.append(before)
    return found
