"""An exception handler removes secrets from the message with an expression that backtracks over the whole text.

After BerriAI/litellm#32353 (ReDoS in secret_redaction.redact_string() blocks the event loop for minutes).
"""

import re

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

CASE = {
    "framework": "fastapi",
    "kind": "computes",
    "route": "POST /completions",
    "cures": ["less", "process"],
    "send": [("POST", "/completions", 3, 1, "a prompt")],
    "source": "https://github.com/BerriAI/litellm/issues/32353",
}
SECRET = re.compile(r"\{[^}]*['\"]api_key['\"][^}]*\}")
app = FastAPI()


class ProviderError(Exception):
    """The provider rejected a request; the message contains the request's body."""


def redacted(message: str) -> str:
    return SECRET.sub("{...}", message)  # FAULT


@app.exception_handler(ProviderError)
async def provider_error(request: Request, error: ProviderError) -> JSONResponse:
    return JSONResponse({"error": len(redacted(str(error)))}, status_code=200)


@app.post("/completions")
async def completions(request: Request) -> None:
    prompt = await request.json()
    raise ProviderError(f"400 Bad Request: {prompt} " + '{"role": "user", ' * 3200)
