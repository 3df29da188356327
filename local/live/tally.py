"""Counts the webhooks that the page's buttons have sent to one service, and the service's answers."""

from collections import Counter

from local.live.firing import Post


class Tally:
    """Counts the webhooks sent to one service, and the service's answers by status. Status 0 means no answer."""

    def __init__(self) -> None:
        self._sent = 0
        self._answers: Counter[int] = Counter()

    def counting(self, post: Post) -> Post:
        """Returns a function that counts a webhook, sends it with `post`, and counts the answer."""

        async def counted(body: bytes) -> int:
            self._sent += 1
            status = await post(body)
            self._answers[status] += 1
            return status

        return counted

    def shown(self) -> dict[str, object]:
        """Returns the counts in the form that the page reads."""
        return {"sent": self._sent, "answers": dict(sorted(self._answers.items()))}
