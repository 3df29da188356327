"""The stages of a webhook, from stacks that py-spy wrote."""

from pathlib import Path

from loadtest.fire.stacks import stacks
from loadtest.report.shares import by_stage

RUN = "Runner.run (/usr/lib/python3.11/asyncio/runners.py:118)"
RECORDED = f"""\
{RUN};RequestResponseCycle.send (/packages/uvicorn/protocols/http/httptools_impl.py:551);Writer.write (/a/app/web/server/writer.py:30) 5
{RUN};RequestResponseCycle.run_asgi (/packages/uvicorn/protocols/http/httptools_impl.py:422) 3
{RUN};authorized (/a/app/web/gate/auth.py:45);b64decode (/usr/lib/python3.11/base64.py:88) 2
{RUN};LeanQueue._attempt (/a/app/sqs/lean.py:1);Connection.request (/a/app/sqs/connection.py:43);write (/usr/lib/python3.11/ssl.py:930) 4
{RUN};Connection.data_received (/a/app/sqs/connection.py:76) 1
{RUN};read_event (/a/app/web/webhook.py:51);parse_event (/a/app/events.py:117);BaseModel.model_validate_json (/packages/pydantic/main.py:847) 6
Thread._bootstrap (/usr/lib/python3.11/threading.py:1);_worker (/usr/lib/python3.11/concurrent/futures/thread.py:81) 9
"""  # noqa: E501


def test_a_sample_counts_for_the_innermost_stage(tmp_path: Path) -> None:
    """A function that a stage calls belongs to this stage. Idle threads belong to none."""
    file = tmp_path / "stacks.txt"
    file.write_text(RECORDED, encoding="utf-8")
    counted = by_stage(stacks(file))
    assert counted == {"respond": 5, "server": 3, "gate": 2, "send": 4, "receive": 1, "parse": 6}
