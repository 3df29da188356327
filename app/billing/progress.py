"""What an attempt has asked of Chargebee."""


class Progress:
    """`begun`: a call was made. `unanswered`: one that writes had no answer, and may still be at work at Chargebee."""

    def __init__(self) -> None:
        self.begun = self.unanswered = False

    def begin(self) -> None:
        self.begun = True

    def miss_answer(self) -> None:
        self.unanswered = True

    def have_answer(self) -> None:
        """Also for the calls before: they had the same key."""
        self.unanswered = False
