"""The error for a request of the user that the doctor cannot carry out, and the exit code after a failed start."""

START_FAILED = 3  # the same as uvicorn's exit code


class DoctorError(Exception):
    """A request of the user that the doctor cannot carry out. `str()` is one line: the value, and what is allowed."""
