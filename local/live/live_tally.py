"""Counts the webhooks that the live page's buttons have sent to one service, and the service's answers."""

from collections import Counter

from local.live.firing import Answer, Post
from local.live.sender_times import SenderTimes


class Tally:
    """Counts the webhooks sent to one service, and the service's answers by status. Status 0 means no answer.

    `times` contains how long the sender waited for each answer.
    """

    def __init__(self) -> None:
        self._sent = 0
        self._answers: Counter[int] = Counter()
        self.times = SenderTimes()

    def counting(self, post: Post) -> Post:
        """Returns a function that counts a webhook, sends it with `post`, and counts the answer."""

        async def counted(body: bytes) -> Answer:
            self._sent += 1
            answer = await post(body)
            self._answers[answer.status] += 1
            if answer.status:
                self.times.observe(answer.seconds)
            return answer

        return counted

    def shown(self) -> dict[str, object]:
        """Returns the counts for the page, and the median and 99th percentile (in ms) of how long the answers took."""
        return {"sent": self._sent, "answers": dict(sorted(self._answers.items())), **self.times.overall()}
