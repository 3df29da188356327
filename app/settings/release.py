"""The optimisation history as an enumeration: the values of APP_RELEASE."""

from enum import StrEnum


class Release(StrEnum):
    """A release. The value is the module's name in `app.web.releases`; `v03` is short for `v03_threadpool`."""

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

    @classmethod
    def _missing_(cls, value: object) -> "Release | None":
        return next((release for release in cls if release.value.partition("_")[0] == value), None)

    @property
    def published(self) -> bool:
        """Whether the talk and the blog post contain this release; this project has added the later ones."""
        return self < Release.V08_NATIVE_ASYNC

    @property
    def enqueues(self) -> bool:
        """Whether a 200 means that SQS has the message. v01 does the billing work itself, without a queue."""
        return self is not Release.V01_INLINE

    @property
    def direct(self) -> bool:
        """Whether the release connects to SQS without the user's proxy."""
        return self >= Release.V10_LEAN_CLIENT

    @property
    def accepted(self) -> str:
        """The status in the body of a 200."""
        return "queued" if self.enqueues else "processed"

    @property
    def version(self) -> str:
        """The version in CHANGELOG.md: v01 → 0.1.0, v10 → 1.0.0."""
        major, minor = divmod(int(self.value[1:3]), 10)
        return f"{major}.{minor}.0"


NEWEST = list(Release)[-1]
