"""The error for a request of the user that the doctor cannot carry out, and the exit code after a failed start."""

START_FAILED = 3  # uvicorn's


class DoctorError(Exception):
    """`str()` is one line for the user: the value, and what is allowed instead."""
