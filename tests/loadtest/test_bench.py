"""`python -m loadtest.bench --against`: this tree's releases beside those of another commit."""

from dataclasses import replace

import pytest

from app.errors import ConfigurationError
from app.settings import NEWEST
from loadtest.stage import subject, trial


def test_a_release_that_the_other_commit_lacks() -> None:
    """The line that the other commit's service prints is the reason."""
    missing = replace(subject.release(NEWEST), name="v99 at 36ecee9", release="v99")
    with pytest.raises(ConfigurationError, match=r"^v99 at 36ecee9: .* error: APP_RELEASE=v99: allowed is v01"):
        trial.start(missing)
