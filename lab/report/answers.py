"""The verdicts on what users report, and the tables of what was measured."""

from math import inf, isinf, isnan
from typing import NamedTuple

from lab.measurement.answers import Answer, Claim, Ratio
from lab.measurement.questions import QUESTIONS
from lab.measurement.questions.def_or_async_def import ANSWERS, WAYS, WORK, case
from loadtest.record.estimate import MedianEstimate, estimate
from loadtest.report.cells import markdown

# Two runs of the same case differ by less than this factor. A claim is confirmed only if the whole interval of its
# ratio is beyond this factor. With at most eight repeats, the interval contains every repeat.
MARGIN = 1.1
NOTHING = "–"
THREE_DIGITS = 10  # below, a number has two decimals


class ClaimOutcome(NamedTuple):
    """`unless`: the ratio without the claim's condition. `verdict`: empty where there is none."""

    claim: Claim
    measured: MedianEstimate
    unless: MedianEstimate | None
    verdict: str


def outcomes(answer: Answer) -> list[ClaimOutcome]:
    """Returns the outcome of each claim whose cases were measured. If the machine was busy, it has no verdict."""
    found = [_outcome(answer, claim) for claim in QUESTIONS[answer.name].claims]
    return [one for one in found if not isnan(one.measured.median)]


def _outcome(answer: Answer, claim: Claim) -> ClaimOutcome:
    measured = _ratio(answer, claim.ratio)
    unless = _ratio(answer, claim.unless) if claim.unless else None
    return ClaimOutcome(claim, measured, unless, "" if answer.doubts() else judge(claim, measured, unless))


def _ratio(answer: Answer, ratio: Ratio) -> MedianEstimate:
    """Estimates the ratio from each repeat's own: infinite if only the divisor is zero, left out if both are zero."""
    over, under = ({run.repeat: run.figures for run in answer.of(case)} for case in (ratio.over, ratio.under))
    both = sorted(over.keys() & under.keys())
    pairs = [(over[repeat][ratio.figure], under[repeat][ratio.figure]) for repeat in both]
    return estimate(mine / other if other else (inf if mine else None) for mine, other in pairs)


def judge(claim: Claim, measured: MedianEstimate, unless: MedianEstimate | None) -> str:
    """`so it is`, `only if …`, or `not here`."""
    if not _holds(claim, measured):
        return "not here"
    return "so it is" if unless is None or _holds(claim, unless) else f"only if {claim.only_if}"


def _holds(claim: Claim, measured: MedianEstimate) -> bool:
    return measured.low > MARGIN if claim.side == "more" else measured.high < 1 / MARGIN


def claims(answer: Answer) -> str:
    """Every claim with its factor and verdict."""
    rows = [[one.claim.text, _times(one), one.verdict or "no verdict"] for one in outcomes(answer)]
    return "\n\n".join([markdown(["", "factor", "verdict"], rows), *_doubtful(answer)])


def _times(one: ClaimOutcome) -> str:
    otherwise = f"; otherwise {interval(one.unless)}" if one.unless else ""
    return f"{interval(one.measured)}{otherwise}"


def _doubtful(answer: Answer) -> list[str]:
    return [f"DOUBTFUL: {len(found)} of the measurements, as {found[0]}."] if (found := answer.doubts()) else []


def verdicts(answers: list[Answer]) -> str:
    """A line for each claim on each question."""
    rows = [
        [f"[{answer.name}](questions/{answer.name}.md)", one.claim.text, _times(one), one.verdict or "no verdict"]
        for answer in answers
        for one in outcomes(answer)
    ]
    return markdown(["question", "", "factor", "verdict"], rows)


def figures(answer: Answer) -> str:
    """Every case: medians of the repeats with their intervals."""
    names = list(dict.fromkeys(name for run in answer.runs for name in run.figures))
    rows = [
        [case, *(interval(estimate(run.figures.get(name) for run in answer.of(case))) for name in names)]
        for case in answer.cases()
    ]
    return markdown(["", *names], rows)


def def_or_async_def(answer: Answer) -> str:
    """Kinds of work by ways to do it: the answers a second as a factor of those of `def`."""
    rows = []
    for work, name in WORK.items():
        cells = [_ratio(answer, Ratio(ANSWERS, case(work, way), case(work, "def"))) for way in WAYS]
        rows.append([name, *map(interval, cells)])
    table = markdown(["", *(f"`{way}`" if "def" in way else way for way in WAYS.values())], rows)
    return "\n\n".join([table, *_doubtful(answer)])


def interval(between: MedianEstimate) -> str:
    """Formats as `12 (11–13)`: no decimals from ten on and for whole numbers, otherwise two."""
    if isnan(between.median):
        return NOTHING
    numbers = [_number(number) for number in between]
    middle, low, high = numbers
    return middle if low == high else f"{middle} ({low}–{high})"


def _number(number: float) -> str:
    if isinf(number):
        return "∞"
    return format(number, ",.0f" if number >= THREE_DIGITS or number == int(number) else ".2f")


def answer(answer: Answer) -> str:
    """Returns the whole text, for a terminal."""
    heading = f"{answer.name}: {QUESTIONS[answer.name].title}"
    return "\n\n".join([heading, figures(answer), claims(answer)])
