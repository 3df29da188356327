"""What `asgi_doctor.watch` costs, as a duet: `python -m tests.doctor.overhead [SECONDS]`.

Two servers run the same FastAPI application at the same time, one of them under `watch`. Both receive 1,000 requests a
second. Every two seconds, the CPU times of both processes are compared; the interval is a bootstrap of the differences.
"""

import asyncio
import os
import random
import socket
import statistics
import subprocess
import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI

import asgi_doctor

RATE, CONNECTIONS, WINDOW = 1000, 20, 2.0
ASK = b"GET /items/7 HTTP/1.1\r\nHost: shop\r\n\r\n"


def serve(watched: str) -> None:
    """Serves the application, and prints the port."""
    api = FastAPI()

    @api.get("/items/{key}")
    async def item(key: int) -> dict[str, object]:
        return {"key": key, "name": "a thing", "prices": [1.5, 2.5, 3.5]}

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)  # noqa: T201  # for the parent
    app = asgi_doctor.watch(api, warn=0.1) if watched == "watched" else api
    uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning")).run([listener])


async def _send(port: int, until: float) -> int:
    """Sends RATE / CONNECTIONS requests a second over one connection. Returns how many were answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    loop, sent, began = asyncio.get_running_loop(), 0, asyncio.get_running_loop().time()
    while (due := began + sent * CONNECTIONS / RATE) < until:
        await asyncio.sleep(max(due - loop.time(), 0))
        writer.write(ASK)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
        sent += 1
    writer.close()
    return sent


def _cpu(process: "subprocess.Popen[str]") -> float:
    """Returns the CPU seconds of all threads."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text(encoding="utf-8").split()[0]) for task in tasks) / 1e9


async def _measure(processes: "list[subprocess.Popen[str]]", ports: list[int], seconds: float) -> list[list[float]]:
    """Returns the CPU shares of both processes in each window."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    sending = [asyncio.create_task(_send(port, until)) for port in ports for _ in range(CONNECTIONS)]
    await asyncio.sleep(WINDOW)
    shares, before, at = [], [_cpu(process) for process in processes], loop.time()
    while loop.time() + WINDOW < until:
        await asyncio.sleep(WINDOW)
        now, present = loop.time(), [_cpu(process) for process in processes]
        shares.append([(after - earlier) / (now - at) for after, earlier in zip(present, before, strict=True)])
        before, at = present, now
    answered = sum(await asyncio.gather(*sending))
    _say(f"{answered / seconds / len(ports):.0f} requests a second each")
    return shares


def main(seconds: float) -> None:
    commands = [[sys.executable, "-m", "tests.doctor.overhead", "--serve", how] for how in ("plain", "watched")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") for command in commands]
    try:
        ports = [int((process.stdout and process.stdout.readline()) or 0) for process in processes]
        shares = asyncio.run(_measure(processes, ports, seconds))
    finally:
        for process in processes:
            process.kill()
    plain, watched = (statistics.mean(share) for share in zip(*shares, strict=True))
    differences = [with_doctor - without for without, with_doctor in shares]
    drawn = sorted(statistics.mean(random.choices(differences, k=len(differences))) for _ in range(5000))  # noqa: S311
    low, high = drawn[125], drawn[-126]
    _say(f"plain {plain:.1%} of a core, watched {watched:.1%}; {len(shares)} windows of {WINDOW:g} s")
    _say(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")
    _say(f"watch costs {watched - plain:.2%} of a core (95 %: {low:.2%} to {high:.2%})")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # the command's output


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main(float(sys.argv[1]) if sys.argv[1:] else 60.0)
