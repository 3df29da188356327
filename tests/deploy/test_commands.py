"""The commands that the alerts and the documents give an operator."""

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from app.cli import cli
from tests.deploy.rendering import ROOT

RULES = ROOT / "deploy" / "prometheus" / "rules.yaml"
PAGES = [RULES, *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "deploy").rglob("*.md"))]
MANIFESTS = sorted((ROOT / "deploy" / "k8s").rglob("*.yaml"))
KUBECTL = re.compile(r"kubectl (?:-|[a-z]+ [-a-z$])[^`\n]*")
# The objects of these name their namespace, or have none.
ELSEWHERE = re.compile(r"kubectl (?:(?:apply|delete) -[fk] |create --raw |describe node)")
COMMAND = re.compile(r"python -m app ([a-z]+(?: [^`]*)?)`")


@pytest.mark.parametrize("page", PAGES + MANIFESTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_command_names_its_namespace(page: Path) -> None:
    """Each command of kubectl finds the service's objects, whatever the operator's default namespace."""
    found = KUBECTL.findall(page.read_text(encoding="utf-8"))
    assert [one for one in found if " -n " not in one and not ELSEWHERE.match(one)] == []


def test_there_are_commands_to_check() -> None:
    """The patterns find the commands that page and rules have today."""
    assert len(KUBECTL.findall((ROOT / "deploy" / "k8s" / "README.md").read_text(encoding="utf-8"))) > 10
    assert len(KUBECTL.findall(RULES.read_text(encoding="utf-8"))) > 5
    assert len(_commands()) > 4


def _commands() -> list[str]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    actions = [rule["annotations"]["action"] for group in groups for rule in group["rules"]]
    return [found for action in actions for found in COMMAND.findall(action)]


def test_the_alerts_commands_exist() -> None:
    """Each command of an alert's action exists, and takes the options that the action names."""
    for words in map(shlex.split, _commands()):
        command = cli.get_command(click.Context(cli), words[0])
        assert command is not None, words
        command.make_context(words[0], words[1:])


def test_the_alerts_look_back_far_enough() -> None:
    """Their defaults, 3 and 35 days, are shorter than redeliveries and retention, and skip the newest usage."""
    assert [words for words in _commands() if words.startswith(("reconcile", "unbilled"))] == [
        "reconcile --since 5d",
        "reconcile --since 15d",
        "unbilled --older-than 0s",
        "unbilled --older-than 0s",
    ]
