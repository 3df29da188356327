"""`python -m asgi_doctor` is the command `asgi-doctor`."""

import sys

from asgi_doctor.cli import main

sys.exit(main())
