"""The tools that can be measured on the corpus."""

from collections.abc import Callable

from tests.doctor.case import Case
from tests.doctor.judge import Reported
from tests.doctor.run import under_doctor

TOOLS: dict[str, Callable[[Case, str, dict[str, str]], list[Reported]]] = {"doctor": under_doctor}
