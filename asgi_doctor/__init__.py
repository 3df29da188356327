"""Finds what blocks the event loop of any ASGI application.

`watch` needs only the standard library. The command needs uvicorn, too, and the pytest plugin needs pytest.

What an application and its tests use:

watch           wraps an application, to watch the loop in production
no_blocking     a context manager that fails if a line inside it blocks the loop
Finding, Kind   what `watch` passes to its callback: a line that blocks the loop, and the way in which it blocks

How it works:

watchdog.py     a thread that samples the stack of the loop's thread
watched.py      the watched thread: its stack, CPU time, time without a core, garbage collections
block.py        a block: one callback of the loop, with its samples
greenlets.py    the frames of a thread, even while the thread runs a greenlet
stacks.py       stacks as locations in files
parts.py        divides a block among the lines that share it
request.py      finds the request that a task or callback of the loop works for
pools.py        calls that wait for a thread of a pool; threads.py: the lines that the threads of the pool run
startup.py      the lines that block the application's start
tally.py        adds up a line's blocks; decides whether the line waits, computes, builds a client or collects garbage
findings.py     all findings of a loop
cures.py        chooses the advice from advice.py; builders.py recognises objects that are expensive to create
scheduling.py   how long a thread used or waited for a core; garbage.py: garbage collections; cgroup.py: throttling
cli.py          the command; options.py, configuration.py, session.py, target.py, deadline.py, serve.py, load.py,
                page.py, report.py, outputs.py, terminal.py are its parts
attach.py       watches a process that is already running; attached.py runs inside that process
errors.py       DoctorError, which the command prints as one line
middleware.py   `watch`
plugin.py       the pytest plugin; guard.py is `no_blocking`, and loops.py records which loops are running
metrics.py      OpenTelemetry's histogram of the loop's delay, which loop_delay.py measures
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asgi_doctor.finding import Finding, Kind
    from asgi_doctor.guard import NoBlocking as no_blocking  # noqa: N813  # with no_blocking(): …
    from asgi_doctor.middleware import Watch as watch  # noqa: N813  # an application wraps itself: app = watch(app)

__all__ = ["Finding", "Kind", "no_blocking", "watch"]


def __getattr__(name: str) -> Any:
    """Imports an object of this package when it is first used, so that a process imports only what it needs."""
    if name == "watch":
        from asgi_doctor.middleware import Watch

        return Watch
    if name == "no_blocking":
        from asgi_doctor.guard import NoBlocking

        return NoBlocking
    if name in {"Finding", "Kind"}:
        from asgi_doctor import finding

        return getattr(finding, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
