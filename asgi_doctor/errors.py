"""The error for a request of the user that the doctor cannot carry out."""


class DoctorError(Exception):
    """`str()` is one line for the user: the value, and what is allowed instead."""
