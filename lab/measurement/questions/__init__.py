"""What is done to each of lab/questions, and what is claimed: one file for each question."""

from lab.measurement.question import Question
from lab.measurement.questions import (
    background_tasks,
    deadlock,
    def_or_async_def,
    disconnect,
    large_responses,
    memory,
    observing,
    python_and_server,
    workers,
)

QUESTIONS: dict[str, Question] = {
    "def_or_async_def": def_or_async_def.QUESTION,
    "deadlock": deadlock.QUESTION,
    "disconnect": disconnect.QUESTION,
    "background_tasks": background_tasks.QUESTION,
    "workers": workers.QUESTION,
    "memory": memory.QUESTION,
    "large_responses": large_responses.QUESTION,
    "observing": observing.QUESTION,
    "python_and_server": python_and_server.QUESTION,
}
