"""Fails if a module of PACKAGES assigns to an attribute of an object other than `self`, unless EXCEPTIONS allows it.

Code that changes a framework's internals may stop working with the framework's next version, without an error.

    python .ci/assignments.py

Augmented assignments, `del`, `setattr` and `delattr` count as well. Starlette's `….state` is always allowed, because
Starlette provides it for assignments.
"""

import ast
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "asgi_doctor", "local", "lab", "loadtest", "profiles/instruments")
# Key: a file and an object. The file may assign to the object's attributes. Value: the reason; "ours" means an object
# of this project. The check also fails if an exception matches nothing.
EXCEPTIONS = {
    "local/chargebee/load_generator.py: result": "ours",
    "local/chargebee/corrections.py: invoice": "ours",
    "local/compare/svg.py: element": "ElementTree's way to set an element's text",
    "app/billing/api_calls.py: record": "ours",
    "app/billing/attempt.py: self._settlement": "ours",
    "app/billing/dynamodb.py: record": "ours",
    "app/billing/usage_report.py: group": "ours",
    "app/sqs/async_client.py: AIOHTTPSession": "aiobotocore's, whose contexts verify too little: the file says why",
    "app/sqs/async_client.py: context": "ssl's way to set a context's options",
    "app/sqs/authorities.py: context": "ssl's way to set a context's options",
    "app/sqs/blocking.py: record": "ours",
    "app/sqs/lean_calls.py: record": "ours",
    "app/sqs/group_commit.py: record": "ours",
    "app/sqs/group_commit.py: batch[-1]": "ours",
    "app/sqs/lean.py: record": "ours",
    "app/sqs/native.py: record": "ours",
    "app/sqs/queue.py: record": "ours",
    "app/web/intake.py: record": "ours",
    "app/web/main.py: app": "FastAPI's documented way to extend its OpenAPI document",
    "profiles/instruments/profiler.py: profiles": "ours",
    "profiles/instruments/profiler.py: self._profiles": "ours",
    "profiles/instruments/profiler.py: intake": "ours",
    "profiles/instruments/wrapped.py: app.router": "Starlette's lifespan, which nothing else can wrap",
    "app/telemetry/stderr.py: sys": "Python's documented way to replace standard error",
    "asgi_doctor/options.py: options": "argparse's namespace, which an action fills",
    "asgi_doctor/findings.py: block": "ours",
    "asgi_doctor/findings.py: leaking": "ours",
    "asgi_doctor/loops.py: loops": "asyncio's, which tells nobody that a loop starts: the file says why",
    "asgi_doctor/outputs.py: failure": "ElementTree's way to set an element's text",
    "asgi_doctor/page.py: server": "http.server's way to set its threads",
    "asgi_doctor/parts.py: one": "ours",
    "asgi_doctor/pools.py: spell": "ours",
    "asgi_doctor/startup.py: block": "ours",
    "asgi_doctor/watchdog.py: ping": "ours",
    "asgi_doctor/watchdog.py: self._block": "ours",
    "lab/measurement/case_users.py: seen": "ours",
    "lab/questions/deadlock.py: current_default_thread_limiter()": "anyio's documented way to size its thread pool",
    "loadtest/stage/in_process.py: uvicorn.Server": "the process runs nothing but this measurement",
    "loadtest/stage/in_process.py: Server": "the process runs nothing but this measurement",
    "loadtest/stage/in_process.py: uvloop.Loop": "the process runs nothing but this measurement",
    "loadtest/stage/in_process.py: aiohappyeyeballs": "the process runs nothing but this measurement",
    "app/sqs/sdk_calls.py: record": "ours",
    "app/worker/consumed_queue.py: record": "ours",
    "app/worker/consume.py: record": "ours",
    "app/worker/handle.py: record": "ours",
    "app/worker/last_event.py: last_event": "ours",
    "app/worker/one_by_one.py: move.result": "ours",
    "app/worker/one_by_one.py: self.result": "ours",
    "app/worker/event_comparison.py: self.summary": "ours",
    "app/worker/dead_letter_moves.py: result": "ours",
    "loadtest/fire/attack_measurement.py: used": "ours",
    "lab/application/main.py: current_default_thread_limiter()": "anyio's documented way to size its thread pool",
    "app/web/threads.py: current_default_thread_limiter()": "anyio's documented way to size its thread pool",
}
SETTERS = {"setattr", "delattr", "__setattr__", "__delattr__"}


def objects(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yields the line and object of each assignment to an attribute, and the line and name of each use of SETTERS."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=value, ctx=ast.Store() | ast.Del()):
                yield node.lineno, ast.unparse(value)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in SETTERS:
                yield node.lineno, name


def check(root: Path, exceptions: Collection[str]) -> list[str]:
    """Returns a message for each assignment that no exception allows, and for each exception that matches nothing."""
    lines, used = [], set()
    for file in sorted(file for package in PACKAGES for file in (root / package).rglob("*.py")):
        for line, target in objects(ast.parse(file.read_text(encoding="utf-8"))):
            exception = f"{file.relative_to(root)}: {target}"
            if exception in exceptions:
                used.add(exception)
            elif target not in {"self", "cls"} and not target.endswith(".state"):
                lines.append(f"{file.relative_to(root)}:{line}: assigns to an attribute of `{target}`")
    return lines + [f"{exception}: this exception matches nothing" for exception in exceptions if exception not in used]


if __name__ == "__main__":
    if lines := check(ROOT, EXCEPTIONS):
        sys.exit("\n".join(lines))
