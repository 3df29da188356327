"""A handler creates the pydantic models of a form from its description, again for each request.

After cognizant-ai-lab/neuro-san#1280 (models rebuilt from scratch for every tool on every request).
"""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field, create_model

CASE = {
    "framework": "fastapi",
    "kind": "builds",
    "route": "POST /forms/{form}",
    "cures": ["once"],
    "send": [("POST", "/forms/tax", 3, 1, "1")],
    "source": "https://github.com/cognizant-ai-lab/neuro-san/pull/1280",
}
app = FastAPI()
SECTIONS = {f"section_{number}": [f"field_{field}" for field in range(12)] for number in range(400)}


def model(sections: dict[str, list[str]]) -> type[BaseModel]:
    """Returns the model of a form: one nested model for each section."""
    nested: dict[str, Any] = {}
    for name, fields in sections.items():
        described: dict[str, Any] = {field: (int, Field(0, ge=0, le=1_000_000)) for field in fields}
        section = create_model(name, **described)  # FAULT
        nested[name] = (section, section())
    return create_model("Form", **nested)  # FAULT


@app.post("/forms/{form}")
async def submit(form: str) -> dict[str, object]:
    checked = model(SECTIONS)()
    return {"form": form, "sections": len(checked.model_fields_set) or len(SECTIONS)}
