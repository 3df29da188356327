"""The tools that can be measured on the corpus. What other tools report is read generously, in their favour."""

import ast
import asyncio
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.doctor.case import Case
from tests.doctor.judge import Reported
from tests.doctor.load import send_all
from tests.doctor.run import served, under_doctor

_FILE = re.compile(r'File:? "([^"]+)", line (\d+), in (\S+)')
_SLOW = re.compile(r"Executing <.* took [\d.]+ seconds")
_RUNNING = re.compile(r"(?:running at|defined at|created at) ([^\s>]+):(\d+)")
_PROFILED = re.compile(r"^pyinstrument (\S+) (\d+) (\S+) ")
Under = Callable[[Case, str, dict[str, str]], list[Reported]]


def _output(tool: str, case: Case, loop: str, variables: dict[str, str]) -> tuple[list[str], list[str]]:
    """Returns the lines that the process wrote, and the stack dumps. Requests may fail: blockbuster raises errors."""
    output: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "tests.doctor.under", tool, case.name, loop, folder]
        with served(case, command, variables, output) as port:
            asyncio.run(send_all(port, case.send))
        return output, [file.read_text(encoding="utf-8") for file in sorted(Path(folder).iterdir())]


def blockbuster(case: Case, loop: str, variables: dict[str, str]) -> list[Reported]:
    """Reads the innermost line of the case in each traceback that ends in a BlockingError."""
    output, _ = _output("blockbuster", case, loop, variables)
    found, inner = set(), None
    for line in output:
        if "Traceback (most recent call last)" in line:
            inner = None
        elif (frame := _FILE.search(line)) and frame[1].endswith(case.file.name):
            inner = Reported(frame[1], int(frame[2]), frame[3])
        elif "BlockingError" in line:
            found.add(inner or Reported("", None))
    return list(found)


def asyncio_debug(case: Case, loop: str, variables: dict[str, str]) -> list[Reported]:
    """Reads the place of each slow callback, whatever file it is in."""
    output, _ = _output("asyncio-debug", case, loop, variables)
    return list(set(_slow_callbacks(output)))


def aiodebug(case: Case, loop: str, variables: dict[str, str]) -> list[Reported]:
    """Reads the slow callbacks, and the innermost line of the case in each dump."""
    output, dumps = _output("aiodebug", case, loop, variables)
    found = set(_slow_callbacks(output))
    for dump in dumps:
        frames = [frame for frame in _FILE.findall(dump) if frame[0].endswith(case.file.name)]
        found |= {Reported(file, int(line), function) for file, line, function in frames[-1:]}
    return list(found)


def pyinstrument(case: Case, loop: str, variables: dict[str, str]) -> list[Reported]:
    """Reads the slow functions of the profiles. A function stands for each marked line in it."""
    output, _ = _output("pyinstrument", case, loop, variables)
    found = {match.groups() for line in output if (match := _PROFILED.search(line))}
    return [Reported(file, _marked_line(case, int(line)), function) for file, line, function in found]


def _slow_callbacks(output: list[str]) -> Iterator[Reported]:
    for line in output:
        if _SLOW.search(line):
            place = _RUNNING.search(line)
            yield Reported(place[1], int(place[2])) if place else Reported("", None)


def _marked_line(case: Case, definition: int) -> int:
    """Returns a marked line of the function that is defined at this line, or the line itself."""
    for node in ast.walk(ast.parse(case.file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= definition <= node.lineno:
                return next((line for line in case.lines if first <= line <= (node.end_lineno or 0)), definition)
    return definition


TOOLS: dict[str, Under] = {
    "doctor": under_doctor,
    "blockbuster": blockbuster,
    "asyncio-debug": asyncio_debug,
    "aiodebug": aiodebug,
    "pyinstrument": pyinstrument,
}
