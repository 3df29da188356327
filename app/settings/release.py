"""Lists the releases of the optimisation history, which are the values of APP_RELEASE."""

from enum import StrEnum


class Release(StrEnum):
    """A release. Its value is the name of its module in `app.web.releases`. The prefix (`v03`) is also accepted."""

    V01_INLINE = "v01_inline"
    V02_BLOCKING = "v02_blocking"
    V03_THREADPOOL = "v03_threadpool"
    V04_MORE_TOKENS = "v04_more_tokens"
    V05_ASYNC_DEPENDENCY = "v05_async_dependency"
    V06_SHARED_QUEUE = "v06_shared_queue"
    V07_SYNC_HANDLER = "v07_sync_handler"
    V08_NATIVE_ASYNC = "v08_native_async"
    V09_GROUP_COMMIT = "v09_group_commit"
    V10_LEAN_CLIENT = "v10_lean_client"
    V11_WITHOUT_ASGI = "v11_without_asgi"

    @classmethod
    def _missing_(cls, value: object) -> "Release | None":
        return next((release for release in cls if release.value.partition("_")[0] == value), None)

    @property
    def published(self) -> bool:
        """True for the releases of the published talk and blog post. This project has added v08 to v11."""
        return self < Release.V08_NATIVE_ASYNC

    @property
    def enqueues(self) -> bool:
        """True if the release sends wanted events to SQS before it answers 200. v01 does the billing work instead."""
        return self is not Release.V01_INLINE

    @property
    def direct(self) -> bool:
        """True if the release cannot use a proxy for SQS. Behind a proxy, `python -m app web` then does not start."""
        return self >= Release.V10_LEAN_CLIENT

    @property
    def keeps_sdk_client(self) -> bool:
        """True if the release builds one client of the AWS SDK at the start, and uses it until the process ends.

        A client that is built while there are no credentials never looks for them again.
        """
        return Release.V06_SHARED_QUEUE <= self < Release.V10_LEAN_CLIENT

    @property
    def accepted(self) -> str:
        """The `status` in the JSON body of the 200 response to a wanted event: `queued` or, for v01, `processed`."""
        return "queued" if self.enqueues else "processed"

    @property
    def version(self) -> str:
        """The version of this release in CHANGELOG.md: 0.1.0 for v01, 1.0.0 for v10, 1.4.0 for v11."""
        if self is Release.V11_WITHOUT_ASGI:
            return "1.4.0"
        major, minor = divmod(int(self.value[1:3]), 10)
        return f"{major}.{minor}.0"


NEWEST = list(Release)[-1]
