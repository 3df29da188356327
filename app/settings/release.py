"""The optimisation history as a closed choice; APP_RELEASE takes one of these."""

from enum import StrEnum


class Release(StrEnum):
    """A value is the name of its module in `app.web.releases`."""

    V08_NATIVE_ASYNC = "v08_native_async"

    @property
    def version(self) -> str:
        """v08 → 0.8.0, v10 → 1.0.0."""
        major, minor = divmod(int(self.value[1:3]), 10)
        return f"{major}.{minor}.0"


NEWEST = list(Release)[-1]
