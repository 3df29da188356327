"""`python -m asgi_doctor` is the command `asgi-doctor`."""

from asgi_doctor.cli import command

command()
