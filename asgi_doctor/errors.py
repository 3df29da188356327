"""What the doctor cannot do as it was asked to."""


class DoctorError(Exception):
    """One line for the user: the value, and what is allowed instead."""
