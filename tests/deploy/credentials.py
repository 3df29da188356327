"""Basic credentials in rendered manifests."""

from base64 import b64decode
from collections.abc import Iterator

from pydantic import ValidationError

from app.settings import WebSettings
from app.web.credentials import weak_passwords
from tests.deploy import policy


def guessable(objects: policy.Objects) -> Iterator[str]:
    """Yields the variable of each password in a manifest that can be guessed, as demo's can."""
    given: dict[str, str] = {}
    for found in policy.of(objects, "Secret") + policy.of(objects, "ConfigMap"):
        encoded = found.get("data", {}) if found["kind"] == "Secret" else {}
        plain = found.get("stringData", {}) if found["kind"] == "Secret" else found.get("data", {})
        given |= plain | {name: b64decode(value).decode() for name, value in encoded.items()}
    for workload in policy.of(objects, "Deployment"):
        given |= {each["name"]: each.get("value", "") for each in policy.container(workload).get("env", [])}
    pairs = {key[4:].lower(): value for key, value in given.items() if key.startswith("APP_BASIC_AUTH_")}
    try:
        weak = weak_passwords(WebSettings.model_validate(pairs))
    except ValidationError as error:
        weak = [str(error)]
    yield from (f"{name} can be guessed" for name in weak)
