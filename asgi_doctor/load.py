"""A small load for `--send`, in a process of its own: `python load.py HOST PORT METHOD PATH [METHOD PATH]…`.

Each request is sent twice alone and then fifty times at once: fifty are more than AnyIO has threads. A request that has
no whole answer after ten seconds is given up. The exit code is 1 if all answers to one of the requests are errors.
"""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence

ALONE = 2
AT_ONCE = 50
SECONDS = 10.0


def send_all(host: str, port: int, requests: Sequence[tuple[str, str]], say: Callable[[str], None]) -> int:
    """Runs this file as a process. `say` receives each line of the output. Returns the exit code."""
    command = [sys.executable, "-P", __file__, host, str(port), *(part for pair in requests for part in pair)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as sending:
        assert sending.stdout is not None
        for line in sending.stdout:
            say(line.rstrip())
    return sending.returncode


async def send(host: str, port: int, method: str, path: str) -> str:
    """Sends one request and reads its answer to the end. Returns the status, or why there is none."""
    writer, answer = None, b""
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            body = "Content-Length: 0\r\n" if method in {"POST", "PUT", "PATCH"} else ""
            name = f"[{host}]" if ":" in host else host
            head = f"{method} {path} HTTP/1.1\r\nHost: {name}:{port}\r\n{body}Connection: close\r\n\r\n"
            writer.write(head.encode())
            await writer.drain()
            answer = await reader.readline()
            while await reader.read(65536):
                pass
        return _status(answer)
    except TimeoutError:
        return f"{_status(answer)} without an end in {SECONDS:g} s" if answer else f"no answer in {SECONDS:g} s"
    except OSError as error:
        return str(error)
    finally:
        if writer is not None:
            writer.close()


def _status(line: bytes) -> str:
    return line.split()[1].decode() if len(line.split()) > 1 else "no answer"


async def main(host: str, port: int, requests: list[tuple[str, str]]) -> int:
    """Sends the requests, prints the number of answers with each status, and returns the exit code."""
    code = 0
    for method, path in requests:
        answers = [await send(host, port, method, path) for _ in range(ALONE)]
        answers += await asyncio.gather(*(send(host, port, method, path) for _ in range(AT_ONCE)))
        counts = ", ".join(f"{answers.count(answer)} × {answer}" for answer in sorted(set(answers)))
        print(f"sent {method} {path}: {counts}", flush=True)  # noqa: T201  # the command's output
        if not any(answer[:1] in ("2", "3") for answer in answers):
            code = 1
    return code


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a pipe to the doctor, which decodes it
    pairs = sys.argv[3:]
    sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]), list(zip(pairs[::2], pairs[1::2], strict=True)))))
