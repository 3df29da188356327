"""What a watchdog has found: the places that held the event loop, each named once."""

from collections.abc import Callable

from asgi_doctor.stacks import Place, Stack, culprit
from asgi_doctor.turn import Blocked, Turn

Found = Callable[[Place, Stack, float], None]


class Findings:
    """See `Watchdog`, whose parameters these are, and which shows `blocked` and `places`."""

    def __init__(self, seconds: float, found: Found) -> None:
        self.blocked = 0
        self.places: dict[Place, Blocked] = {}
        self._seconds, self._found = seconds, found
        self._named: set[Place] = set()

    def count(self, turn: Turn, now: float) -> None:
        """Counts a turn once it has held the loop for too long, and names its place."""
        turn.hold(now)
        if turn.held > self._seconds and turn.samples and not turn.counted:
            turn.count()
            self.blocked += 1
            self._name(*culprit(turn.samples), turn.held)

    def end(self, turn: Turn, now: float, computing: float) -> None:
        """The turn has let go of the loop; `computing`: seconds that its thread had computed by then."""
        self.count(turn, now)
        if turn.counted:
            place, stack = culprit(turn.samples)
            blocked = self.places.setdefault(place, Blocked(place, stack))
            blocked.add(turn.held, computing - turn.computing)
            self._name(place, stack, turn.held)

    def _name(self, place: Place, stack: Stack, held: float) -> None:
        if place not in self._named:
            self._named.add(place)
            self._found(place, stack, held)
