"""A handler compares a name with all known ones by difflib, so the loop computes for as long as there are names.

After WingedGuardian/GENesis-AGI#1400 (difflib fuzzy match on the event loop).
"""

import difflib

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CASE = {
    "framework": "starlette",
    "kind": "computes",
    "route": "GET /customers/similar",
    "cures": ["process", "less"],
    "send": [("GET", "/customers/similar?name=Johanna+Mustermann", 2, 1)],
    "source": "https://github.com/WingedGuardian/GENesis-AGI/pull/1400",
}
FIRST = ("Johann", "Johanna", "Hannah", "Jonas", "Marianne", "Annemarie", "Hermann", "Susanne")
LAST = ("Muster", "Mustermann", "Manstermund", "Meister", "Neumann", "Hartmann", "Zimmermann")


class Registry:
    def __init__(self, names: list[str]) -> None:
        self.names = names

    def similar(self, name: str) -> list[str]:
        found = []
        for known in self.names:
            ratio = difflib.SequenceMatcher(None, known.lower(), name.lower(), autojunk=False).ratio()  # FAULT
            if ratio > 0.9:
                found.append(known)
        return found


registry = Registry([f"{first} {last} {number}" for first in FIRST for last in LAST for number in range(400)])


async def similar(request: Request) -> JSONResponse:
    return JSONResponse({"similar": registry.similar(request.query_params["name"])})


app = Starlette(routes=[Route("/customers/similar", similar)])
