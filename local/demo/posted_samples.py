"""Posts every sample event once, and checks that exactly the expected events arrive in the queue, byte for byte."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

from app.settings import WebSettings
from local import ctrl_c
from local.chargebee.sender import open_session, post
from local.demo.output import Output
from local.local_run import LocalRun
from local.peek import peek
from local.sample_events import sample_files
from local.seeding import seed


def post_samples(run: LocalRun, settings: WebSettings, output: Output) -> list[str]:
    """Posts the sample events, and returns a line for each problem."""
    files = sample_files()
    seed(run, (file.read_bytes() for file in files))
    answers = ctrl_c.run(_post(run, settings, files, output))
    if not settings.release.enqueues:
        return list(_unexpected(files, settings, answers))
    arrived = peek(run.endpoint, run.queue_url, run.ca_bundle)
    output.say(f"\n{len(arrived)} messages in the queue:")
    for message in arrived:
        output.say(f"  {len(message.body.encode()):>7,} bytes  {json.dumps(message.attributes)}")
    problems = list(_problems(files, settings, answers, [message.body.encode() for message in arrived]))
    if not problems:
        output.say("\nOK: every expected event is in the queue byte for byte, and nothing else is.")
    return problems


async def _post(run: LocalRun, settings: WebSettings, files: list[Path], output: Output) -> dict[str, str]:
    """Posts the files. Returns, for each file name, the response's `status` (`queued`, `ignored`, …), or an error."""
    answers = {}
    assert run.url is not None
    async with open_session(run.url, settings) as client:
        for file in files:
            reply = await post(client, file.read_bytes())
            output.say(f"{reply.status}  {reply.text}  ← {file.name}")
            answers[file.name] = json.loads(reply.text)["status"] if reply.status == HTTPStatus.OK else f"{reply}"
    return answers


def _problems(files: list[Path], settings: WebSettings, answers: dict[str, str], arrived: list[bytes]) -> Iterator[str]:
    yield from _unexpected(files, settings, answers)
    expected = [file.read_bytes() for file in files if _wanted(file, settings)]
    if sorted(arrived) != sorted(expected):
        yield f"{len(arrived)} messages arrived; expected {len(expected)} messages that equal the files byte for byte"


def _unexpected(files: list[Path], settings: WebSettings, answers: dict[str, str]) -> Iterator[str]:
    """Yields a line for each file to which the service gave a wrong answer."""
    for file in files:
        if answers[file.name] != (settings.release.accepted if _wanted(file, settings) else "ignored"):
            yield f"{file.name}: {answers[file.name]}"


def _wanted(file: Path, settings: WebSettings) -> bool:
    return json.loads(file.read_bytes())["event_type"] in settings.event_types
