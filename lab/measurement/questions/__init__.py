"""The cases of each application in lab/questions, and the claims of users: one file for each question."""

from lab.measurement.question import Question
from lab.measurement.questions import (
    background_tasks_cases,
    deadlock_cases,
    def_or_async_def_cases,
    disconnect_cases,
    large_responses_cases,
    memory_cases,
    observing_cases,
    python_and_server_cases,
    workers_cases,
)

QUESTIONS: dict[str, Question] = {
    "def_or_async_def": def_or_async_def_cases.QUESTION,
    "deadlock": deadlock_cases.QUESTION,
    "disconnect": disconnect_cases.QUESTION,
    "background_tasks": background_tasks_cases.QUESTION,
    "workers": workers_cases.QUESTION,
    "memory": memory_cases.QUESTION,
    "large_responses": large_responses_cases.QUESTION,
    "observing": observing_cases.QUESTION,
    "python_and_server": python_and_server_cases.QUESTION,
}
