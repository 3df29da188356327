"""A helper of a plain ASGI application computes in Python."""

import math

CASE = {
    "framework": "asgi",
    "kind": "computes",
    "route": "GET /primes",
    "cures": ["process"],
    "send": [("GET", "/primes", 2, 1)],
    "source": "",
}


def is_prime(number):
    return all(number % divisor for divisor in range(2, math.isqrt(number) + 1))  # FAULT


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    found = sum(is_prime(number) for number in range(2, 150_000))  # FAULT
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(found).encode()})
