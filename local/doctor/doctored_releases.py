"""Names this project's releases (values of APP_RELEASE) that show how to cure a finding of asgi-doctor."""

from app.settings import Release
from asgi_doctor.finding import Finding, Kind

_RELEASES: dict[Kind, tuple[Release, ...]] = {
    Kind.BUILDS: (Release.V06_SHARED_QUEUE,),
    Kind.WAITS: (Release.V08_NATIVE_ASYNC, Release.V03_THREADPOOL),
    Kind.MANY_SHORT: (Release.V08_NATIVE_ASYNC, Release.V03_THREADPOOL),
    Kind.STARVES: (Release.V04_MORE_TOKENS, Release.V07_SYNC_HANDLER, Release.V08_NATIVE_ASYNC),
}


def showing(finding: Finding) -> tuple[Release, ...]:
    """Returns the releases that show how to cure the finding.

    Returns an empty tuple if no release shows the cure, for example for a slow computation or garbage collection.
    """
    return _RELEASES.get(finding.kind, ())
