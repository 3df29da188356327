"""Runs ElasticMQ, an independent emulator of SQS, for one job of CI: https://github.com/softwaremill/elasticmq"""

import re
import shutil
import subprocess
from pathlib import Path

from local.ports import START_SECONDS, free_port
from local.readiness import is_listening, wait_until_ready
from tests.harness.missing import missing

_PROJECT = Path(__file__).parent
_CLASSPATH = _PROJECT / "target" / "classpath"


class ElasticMq:
    """ElasticMQ under Java 17, in memory. `make tests/harness/elasticmq/target/classpath` downloads its jars."""

    def __init__(self) -> None:
        version = re.search(
            r"elasticmq-server.*?<version>(.*?)<", (_PROJECT / "pom.xml").read_text(encoding="utf-8"), re.DOTALL
        )
        assert version is not None
        self.name = f"ElasticMQ {version[1]}"
        self._process: subprocess.Popen[bytes] | None = None
        self._port = free_port()
        self.endpoint = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        java = shutil.which("java")
        if java is None or not _CLASSPATH.exists():
            missing("ElasticMQ requires Java 17 and its jars: make tests/harness/elasticmq/target/classpath")
        options = [
            "rest-sqs.bind-hostname=127.0.0.1",
            f"rest-sqs.bind-port={self._port}",
            "rest-stats.enabled=false",
            "node-address.host=127.0.0.1",
            f"node-address.port={self._port}",
            "generate-node-address=false",
        ]
        command = [
            java,
            "-Xmx512m",
            *(f"-D{option}" for option in options),
            "-cp",
            _CLASSPATH.read_text(encoding="utf-8").strip(),
        ]
        # In a new session, because Ctrl-C in the terminal must not end the queue before the service has drained.
        self._process = subprocess.Popen(
            [*command, "org.elasticmq.server.Main"], stdout=subprocess.DEVNULL, start_new_session=True
        )
        wait_until_ready(self._process, lambda: is_listening(self._port), START_SECONDS)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
