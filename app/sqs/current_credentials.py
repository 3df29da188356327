"""Keeps the credentials for the lean client's signatures. botocore finds and renews them, in a thread."""

import asyncio
from contextlib import suppress
from typing import NoReturn

from app.sqs.account import Account, in_background
from app.sqs.signing import Credentials

# botocore renews credentials that expire within 15 minutes.
RENEW_SECONDS = 60.0


class CurrentCredentials:
    """The process's credentials. `current` is None until `find` has succeeded."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._finding: asyncio.Task[None] | None = None
        self.current: Credentials | None = None

    async def find(self) -> None:
        """Asks botocore for the credentials. Raises botocore's errors.

        While one call waits for the answer, further calls wait for the same answer instead of starting threads of their
        own. Otherwise, many threads would pile up if a service such as STS does not answer for minutes.
        """
        if self._finding is None or self._finding.done():
            self._finding = asyncio.create_task(self._ask())
            # Marks an exception as retrieved, because all callers may have been cancelled.
            self._finding.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._finding)

    async def renew(self) -> NoReturn:
        """Renews the credentials before they expire, so that no webhook waits for new ones."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with suppress(Exception):  # if SQS rejects expired credentials, the client calls `find` itself
                await self.find()

    async def _ask(self) -> None:
        self.current = await in_background(self._account.credentials)
