"""The record of `python -m loadtest billing`: workers bill events, and are killed meanwhile."""

from collections.abc import Iterator

from pydantic import Field

from loadtest.record.comparison import Environment
from loadtest.record.shapes import Record


class ChargebeeCalls(Record):
    """The calls to Chargebee's stand-in. `by_status`: their number by HTTP status.

    `limit`: the calls that are allowed in 60 s. `most`: the highest number of calls in any 60 s. `used`: the share of
    `limit` that was used in the median minute, or None if the work took less than a minute.
    """

    limit: int
    by_status: dict[str, int]
    most: int
    used: float | None


class BillingAudit(Record):
    """The audit of Chargebee's stand-in and of the dead-letter queue. Each list contains the faults of one kind.

    `unbilled`: invoices that are neither closed nor void. `twice`: invoices that are closed more than once. `missing`:
    usage without a charge. `repeated`: usage with several charges. `foreign`: charges without usage. `misplaced`:
    charges on the wrong invoice, for the wrong subscription or in the wrong currency. `unexplained`: dead letters that
    are missing, are unexpected, or have the wrong reason.

    `rests`: N if every Nth call to the stand-in got a 429 with a random Retry-After, or 0 if none did. `by_person`: the
    number of invoices that a person closed, deleted or voided during the run. `rewritten`: the number of items that the
    writer of usage wrote again. `judged`: the number of items that have a verdict (see `loadtest.fire.judgement`)
    instead of a charge. `totals`: the sums of usage, of charges, and of usage with a verdict, by currency, in minor
    units.
    """

    environment: Environment
    command: str
    seed: int
    events: int
    again: int
    too_late: int
    poison: int
    invoices: int
    charges: int
    workers: int
    kills: int
    seconds: float
    idempotency_s: float
    lease_s: float
    error_share: float
    rests: int = 0
    calls: ChargebeeCalls
    dead_letters: dict[str, int]
    unbilled: list[str]
    twice: list[str]
    missing: list[str]
    repeated: list[str]
    foreign: list[str]
    misplaced: list[str] = Field(default_factory=list)
    unexplained: list[str]
    left_in_queue: int
    by_person: dict[str, int] = Field(default_factory=dict)
    rewritten: int = 0
    judged: int = 0
    totals: dict[str, dict[str, int]] = Field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @property
    def faults(self) -> dict[str, list[str]]:
        """Returns the lists of faults that are not empty, by the kind of fault."""
        kinds = ("unbilled", "twice", "missing", "repeated", "foreign", "misplaced", "unexplained", "wrong_totals")
        return {kind: found for kind in kinds if (found := getattr(self, kind))}

    @property
    def wrong_totals(self) -> list[str]:
        """Returns the currencies in which charges and usage with a verdict do not add up to all usage."""
        return [name for name, sums in self.totals.items() if sums["usage"] != sums["charged"] + sums["verdict"]]

    @property
    def holds(self) -> bool:
        return not self.faults and not self.left_in_queue and self.calls.most <= self.calls.limit

    def text(self) -> str:
        """Returns a line for each figure."""
        statuses = ", ".join(f"{status}: {number:,}" for status, number in sorted(self.calls.by_status.items()))
        used = "" if self.calls.used is None else f", {self.calls.used:.0%} of it used in the median minute of work"
        letters = ", ".join(f"{reason}: {number}" for reason, number in sorted(self.dead_letters.items())) or "none"
        lines = [
            f"{self.events:,} events: {self.again:,} again, {self.too_late:,} too late, {self.poison:,} poison;"
            f" {self.workers} workers, {self.kills} kills, {self.seconds:,.0f} s; --seed {self.seed}",
            f"invoices: {self.invoices - len(self.unbilled):,} of {self.invoices:,} closed, {len(self.twice)} twice",
            f"charges: {self.charges - len(self.missing) - self.judged:,} of {self.charges:,} there,"
            f" {len(self.repeated)} repeated, {len(self.foreign)} that should not be",
            *self._beside(),
            f"dead letters: {letters}; {self.left_in_queue} left in the queue",
            f"calls of Chargebee: {statuses}; {self.error_share:.0%} errors planted"
            + (f", a 429 with a random Retry-After every {self.rests} calls" if self.rests else ""),
            f"at most {self.calls.most:,} calls in any 60 s, limit {self.calls.limit:,}{used}",
            f"idempotency keys lived {self.idempotency_s:g} s, leases {self.lease_s:g} s",
            *(f"{kind}: {', '.join(found[:10])}" for kind, found in self.faults.items()),
            *(f"DOUBTFUL: {doubt}" for doubt in self.doubts),
            "audit: holds" if self.holds else "audit: FAILED",
        ]
        return "\n".join(lines)

    def _beside(self) -> Iterator[str]:
        """Yields lines about the person and the writer. Yields none for an older result, whose run had neither."""
        if not self.totals:
            return
        deeds = ", ".join(f"{what} {number}" for what, number in sorted(self.by_person.items())) or "nothing"
        yield (
            f"meanwhile, a person did: {deeds}; {self.rewritten:,} items of usage were put again;"
            f" {self.judged} charges have a verdict instead"
        )
        for currency, sums in self.totals.items():
            yield (
                f"{currency}: {sums['usage'] / 100:,.2f} of usage, {sums['charged'] / 100:,.2f} charged,"
                f" {sums['verdict'] / 100:,.2f} with a verdict"
            )
