"""Makes the tables of the questions: the figures that users compare, and the ratios of these figures."""

from math import inf, isinf, isnan
from typing import NamedTuple

from lab.measurement.expected_answers import Answer, Claim, Ratio
from lab.measurement.questions import QUESTIONS
from lab.measurement.questions.def_or_async_def_cases import ANSWERS, WAYS, WORK, case
from loadtest.record.price_estimate import MedianEstimate, estimate
from loadtest.report.cells import markdown

# Two runs of the same case differ by less than this factor. A ratio counts as a difference only if its whole interval
# is above MARGIN or below 1 ÷ MARGIN. With at most eight repeats, the interval contains every repeat.
MARGIN = 1.1
NOTHING = "–"
THREE_DIGITS = 10  # numbers below this have two decimals


class ClaimOutcome(NamedTuple):
    """The outcome of one claim. `what`: the claim, with its condition. `ratio` is `first` ÷ `second`."""

    what: str
    first: MedianEstimate
    second: MedianEstimate
    ratio: MedianEstimate
    verdict: str


def outcomes(answer: Answer) -> list[ClaimOutcome]:
    """Returns the outcomes of all claims whose cases were measured.

    A claim with a condition may have a second outcome: the ratio in cases that do not meet the condition.
    """
    found = []
    for claim in QUESTIONS[answer.name].claims:
        what = f"{claim.text} (if {claim.only_if})" if claim.only_if else claim.text
        found.append(_outcome(answer, claim, claim.ratio, what))
        if claim.unless:
            found.append(_outcome(answer, claim, claim.unless, "– without this condition"))
    return [one for one in found if not isnan(one.ratio.median)]


def _outcome(answer: Answer, claim: Claim, ratio: Ratio, what: str) -> ClaimOutcome:
    first, second = (
        estimate(run.figures[ratio.figure] for run in answer.of(name) if ratio.figure in run.figures)
        for name in (ratio.over, ratio.under)
    )
    measured = _ratio(answer, ratio)
    return ClaimOutcome(what, first, second, measured, "no verdict" if answer.doubts() else judge(claim, measured))


def _ratio(answer: Answer, ratio: Ratio) -> MedianEstimate:
    """Estimates the ratio from the ratios of the repeats.

    A repeat's ratio is infinite if only the divisor is zero. The estimate omits a repeat if both values are zero.
    """
    over, under = ({run.repeat: run.figures for run in answer.of(case)} for case in (ratio.over, ratio.under))
    both = sorted(over.keys() & under.keys())
    pairs = [(over[repeat][ratio.figure], under[repeat][ratio.figure]) for repeat in both]
    return estimate(mine / other if other else (inf if mine else None) for mine, other in pairs)


def judge(claim: Claim, measured: MedianEstimate) -> str:
    """Returns the verdict, or an empty string if the measured ratio is on the side that users claim.

    The verdict is `near 1 in a repeat` if the interval overlaps the range from 1 ÷ MARGIN to MARGIN. It is `the
    opposite` if the interval is on the side of this range that contradicts the claim.
    """
    more, less = measured.low > MARGIN, measured.high < 1 / MARGIN
    if not more and not less:
        return "near 1 in a repeat"
    return "" if (claim.side == "more") is more else "the opposite"


def claims(answer: Answer) -> str:
    """Returns a table of each claim's two figures, their ratio, and the verdict if the claim is not confirmed."""
    rows = [
        [one.what, _middle(one.first), _middle(one.second), "; ".join(filter(None, [interval(one.ratio), one.verdict]))]
        for one in outcomes(answer)
    ]
    return "\n\n".join([markdown(["A ÷ B", "A", "B", "ratio"], rows), *_doubtful(answer)])


def _middle(between: MedianEstimate) -> str:
    return NOTHING if isnan(between.median) else _number(between.median)


def _doubtful(answer: Answer) -> list[str]:
    return [f"DOUBTFUL: {len(found)} of the measurements, as {found[0]}."] if (found := answer.doubts()) else []


def figures(answer: Answer) -> str:
    """Returns a table of every case: medians of the repeats with their intervals."""
    names = list(dict.fromkeys(name for run in answer.runs for name in run.figures))
    rows = [
        [case, *(interval(estimate(run.figures.get(name) for run in answer.of(case))) for name in names)]
        for case in answer.cases()
    ]
    return markdown(["", *names], rows)


def def_or_async_def(answer: Answer) -> str:
    """Returns a table of work (rows) and ways to run it (columns). A cell: the rate of answers ÷ the rate of `def`."""
    rows = []
    for work, name in WORK.items():
        cells = [_ratio(answer, Ratio(ANSWERS, case(work, way), case(work, "def"))) for way in WAYS]
        rows.append([name, *map(interval, cells)])
    table = markdown(["", *(f"`{way}`" if "def" in way else way for way in WAYS.values())], rows)
    return "\n\n".join([table, *_doubtful(answer)])


def interval(between: MedianEstimate) -> str:
    """Formats an estimate as `12 (11–13)`. Numbers below THREE_DIGITS get two decimals, unless they are whole."""
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
    """Returns all tables of a question as text for a terminal."""
    heading = f"{answer.name}: {QUESTIONS[answer.name].title}"
    return "\n\n".join([heading, figures(answer), claims(answer)])
