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
        if run.loop.within_iteration:
            if all(step.special for step in found):
                found.insert(0, Step("the iteration ends", 0, run.do))
        elif (timer := run.next_time) is not None:
            late = bool(run.sqs.calls or run.sqs.rests)
            take = partial(_disturb, run, partial(run.pass_time, timer), late)
            found.append(Step("time passes until", round(timer), take, fault=late))
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
        body = len(BODIES[number])
        yield Step("arrives", number, partial(_arrive, run))
        yield Step("arrives in the same iteration as what follows", number, partial(_arrive, run, settle=False))
        yield Step("sends its head", number, partial(_arrive, run, missing=body), special=True)
        yield Step("sends half of its body", number, partial(_arrive, run, missing=body // 2), special=True)


def _of_senders(run: PathRun) -> Iterator[Step]:
    for number, sender in enumerate(run.senders):
        if sender.waits:
            slow = bool(sender.rest)  # which has cost a special
            if slow:
                yield Step("sends the rest", number, partial(run.do, sender.send_rest))
            yield Step("leaves", number, partial(run.do, sender.leave), special=not slow)
            yield Step("stops sending and reading", number, partial(run.do, sender.stop_sending), special=not slow)


def _arrive(run: PathRun, *, missing: int = 0, settle: bool = True) -> None:
    sender = Sender(run, BODIES[len(run.senders)], missing)
    run.senders.append(sender)
    run.do(sender.send_first, settle=settle)


def _deliver(run: PathRun, rest: tuple[Wire, bytes]) -> None:
    run.sqs.rests.remove(rest)
    rest[0].deliver(rest[1])


def _stop(run: PathRun) -> None:
    run.stopped, run.undisturbed = True, False
    run.admission.drain()
    run.do(*(sender.shutdown for sender in run.senders), run.door.stop)


def _disturb(run: PathRun, take: Callable[[], None], fault: bool) -> None:
    run.undisturbed = run.undisturbed and not fault
    take()
