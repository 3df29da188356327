"""Adds the code to wheel and sdist. In an unpacked sdist, does nothing, because hatchling finds the code itself."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "asgi_doctor"


class CodeHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not Path(self.root, PACKAGE).is_dir():
            source = Path(self.root).parents[1] / PACKAGE
            build_data["force_include"][str(source)] = PACKAGE
