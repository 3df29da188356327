"""Compares two histories of one commit. Exits with 1 where they put two releases in opposite orders.

    python -m loadtest.same_order DIR DIR

Two releases are in order where the intervals of their throughput do not overlap.
"""

import sys
from itertools import combinations
from pathlib import Path

import click

from loadtest.record.comparison import Comparison
from loadtest.record.estimate import Estimate, estimate

KINDS = ("published", "saturated")
Order = dict[tuple[str, str], int]


def order(comparison: Comparison, kind: str) -> Order:
    """1 where the first of a pair is faster, -1 where the second is; pairs whose intervals overlap are omitted."""
    rates = {name: estimate(run.rps for run in comparison.of(kind, name)) for name in comparison.names(kind)}
    return {
        pair: _sign(*(rates[name] for name in pair)) for pair in combinations(rates, 2) if not _overlap(rates, pair)
    }


def _overlap(rates: dict[str, Estimate], pair: tuple[str, str]) -> bool:
    return rates[pair[0]].overlaps(rates[pair[1]])


def _sign(one: Estimate, other: Estimate) -> int:
    return 1 if one.median > other.median else -1


@click.command(help=__doc__)
@click.argument("folders", nargs=2, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folders: tuple[Path, Path]) -> None:
    one, other = (Comparison.model_validate_json((folder / "history.json").read_text()) for folder in folders)
    if one.environment.commit != other.environment.commit:
        sys.exit(f"of two commits: {one.environment.commit}, {other.environment.commit}")
    opposite = []
    for kind in KINDS:
        orders = order(one, kind), order(other, kind)
        both = orders[0].keys() & orders[1].keys()
        against = sorted(pair for pair in both if orders[0][pair] != orders[1][pair])
        print(f"{kind}: {len(both)} pairs in order in both, {len(against)} of them opposite")
        opposite += [f"{kind}: {' and '.join(pair)}" for pair in against]
    if opposite:
        sys.exit("\n".join(opposite))


if __name__ == "__main__":
    main()
