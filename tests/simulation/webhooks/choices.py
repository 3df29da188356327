"""The steps that a scheduler may choose: of the senders, of SQS, of the process, and of time."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from loadtest.stage.fake_transports import SqsConnection
from tests.simulation.webhooks.path import BODIES, PathRun
from tests.simulation.webhooks.sender import Sender
from tests.simulation.webhooks.server import Answer, deliver

# Seconds between two parts of a body. Two pauses are longer than BODY_TIMEOUT.
PAUSE = 6.0


class Step(NamedTuple):
    """A step. `what` and `subject` describe it. `special`, `fault`: whether it counts as a special event or a fault."""

    what: str
    subject: int
    take: Callable[[], None]
    special: bool = False
    fault: bool = False

    def __str__(self) -> str:
        return f"{self.what} ({self.subject})"


def steps(run: PathRun) -> list[Step]:
    """Returns the next steps. The first step is the usual step."""
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
    number, sender = len(run.webhooks), _kept_alive(run)
    if number == run.bound.webhooks or run.stopped:
        return
    arrive, body = partial(_arrive, run, sender), len(BODIES[number])
    where = "" if sender is None else " on the connection of the one before"
    yield Step(f"arrives{where}", number, arrive)
    yield Step(f"arrives{where} in the same iteration as what follows", number, partial(arrive, settle=False))
    if sender is None and run.bound.long_lived and number + 1 < run.bound.webhooks:
        yield Step("arrives in one segment with the next one", number, partial(arrive, webhooks=2))
    yield Step(f"sends its head{where}", number, partial(arrive, missing=body), special=True)
    yield Step(f"sends half of its body{where}", number, partial(arrive, missing=body // 2), special=True)


def _of_senders(run: PathRun) -> Iterator[Step]:
    for number, sender in enumerate(run.senders):
        slow = bool(sender.parts)  # the sender's first part was a special event
        if slow and sender.waits:
            yield Step("sends the rest", number, partial(_send_rest, run, sender))
            if run.bound.long_lived and not (run.loop.within_iteration or run.sqs.calls or run.sqs.rests):
                yield Step("sends the next part after a pause", number, partial(_pause, run, sender))
        is_idle = run.bound.long_lived and not sender.is_closing() and len(run.webhooks) < run.bound.webhooks
        if sender.waits or is_idle:
            yield Step("leaves", number, partial(run.do, sender.leave), special=not slow)
            yield Step("stops sending and reading", number, partial(run.do, sender.stop_sending), special=not slow)


def _kept_alive(run: PathRun) -> Sender | None:
    """Returns the newest sender if it sends its second webhook over the same connection."""
    sender = run.senders[-1] if run.bound.long_lived and run.senders else None
    return sender if sender and sender.can_send and len(sender.webhooks) == 1 else None


def _arrive(run: PathRun, sender: Sender | None, *, webhooks: int = 1, missing: int = 0, settle: bool = True) -> None:
    if sender is None:
        sender = Sender(run)
        run.senders.append(sender)
    for _ in range(webhooks):
        run.webhooks.append(sender.add(BODIES[len(run.webhooks)], missing))
    run.do(sender.take(webhooks), settle=settle)


def _send_rest(run: PathRun, sender: Sender) -> None:
    """Sends each remaining part in a separate segment."""
    run.do(*[sender.take() for _ in list(sender.parts)])


def _pause(run: PathRun, sender: Sender) -> None:
    run.pass_time(run.now + PAUSE)
    run.do(sender.take())


def _deliver(run: PathRun, rest: tuple[SqsConnection, bytes]) -> None:
    run.sqs.rests.remove(rest)
    deliver(*rest)


def _stop(run: PathRun) -> None:
    run.stopped, run.undisturbed = True, False
    run.admission.drain()
    waiting = [connection.stop_waiting for connection in list(run.connections)]
    run.do(*(sender.shutdown for sender in run.senders), *waiting)


def _disturb(run: PathRun, take: Callable[[], None], fault: bool) -> None:
    run.undisturbed = run.undisturbed and not fault
    take()
