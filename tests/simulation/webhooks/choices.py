"""The steps that a scheduler may choose: of the senders, of SQS, of the process, and of time."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from tests.simulation.webhooks.path import BODIES, PathRun
from tests.simulation.webhooks.sender import Sender
from tests.simulation.webhooks.server import Answer, Wire


class Step(NamedTuple):
    """`what` and `subject` describe the step. `special`, `fault`: what the step costs of each of the two bounds."""

    what: str
    subject: int
    take: Callable[[], None]
    special: bool = False
    fault: bool = False

    def __str__(self) -> str:
        return f"{self.what} ({self.subject})"


def steps(run: PathRun) -> list[Step]:
    """Returns the next steps. The first one is the usual one."""
    found = [*_answers(run), *_arrivals(run), *_of_senders(run)]
    if any(sender.waits for sender in run.senders):
        if not run.stopped:
            found.append(Step("the process stops", 0, partial(_stop, run), special=True))
        if (timer := run.loop.next_timer()) is not None:
            late = bool(run.sqs.calls or run.sqs.rests)
            found.append(
                Step("time passes until", round(timer), partial(_disturb, run, run.pass_time, late), fault=late)
            )
    return found


def _answers(run: PathRun) -> Iterator[Step]:
    for number, call in enumerate(run.sqs.calls):
        for how in Answer:
            take = partial(run.do, partial(run.sqs.answer, call, how))
            fault = how not in (Answer.TAKES, Answer.TAKES_IN_PARTS)
            yield Step(f"SQS {how}", number, partial(_disturb, run, take, fault), fault=how is not Answer.TAKES)
    for number, rest in enumerate(run.sqs.rests):
        yield Step("the rest of the answer arrives", number, partial(run.do, partial(_deliver, run, rest)))


def _arrivals(run: PathRun) -> Iterator[Step]:
    if len(run.senders) < len(BODIES) and not run.stopped:
        number = len(run.senders)
        yield Step("arrives", number, partial(_arrive, run, body=True, settle=True))
        yield Step(
            "arrives in the same iteration as what follows", number, partial(_arrive, run, body=True, settle=False)
        )
        yield Step("sends its head", number, partial(_arrive, run, body=False, settle=True), special=True)


def _of_senders(run: PathRun) -> Iterator[Step]:
    for number, sender in enumerate(run.senders):
        if not sender.has_sent and sender.waits:
            yield Step("sends its body", number, partial(run.do, sender.send_body))
        if sender.waits:
            yield Step("leaves", number, partial(run.do, sender.leave), special=True)


def _arrive(run: PathRun, *, body: bool, settle: bool) -> None:
    sender = Sender(run, BODIES[len(run.senders)])
    run.senders.append(sender)
    sender.has_sent = body
    run.do(sender.send_head, *([sender.send_body] if body else []), settle=settle)


def _deliver(run: PathRun, rest: tuple[Wire, bytes]) -> None:
    run.sqs.rests.remove(rest)
    rest[0].deliver(rest[1])


def _stop(run: PathRun) -> None:
    run.stopped, run.undisturbed = True, False
    run.admission.drain()
    run.do(run.door.stop)


def _disturb(run: PathRun, take: Callable[[], None], fault: bool) -> None:
    run.undisturbed = run.undisturbed and not fault
    take()
