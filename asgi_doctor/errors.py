"""The error that the command prints as one line, and the exit code after a failed start of the application."""

START_FAILED = 3  # the same as uvicorn's exit code


class DoctorError(Exception):
    """The doctor cannot do what the user wants. `str()` is one line: usually the wrong value, and what is allowed."""
