"""The commands in the documentation exist, with the options and the choices that are shown."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import asyncclick as click
import pytest

from vault_agent.cli.command import Invocation
from vault_agent.cli.run import program

ROOT = Path(__file__).parent.parent
SKILL = ROOT / "plugin/skills/vault-agent/SKILL.md"
PAGES = [ROOT / "README.md", SKILL, *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = "vault-agent"


def lines() -> list[tuple[str, str]]:
    """Return the calls of the program in the blocks of shell, each with its page."""
    found = []
    for page in PAGES:
        for block in BLOCK.findall(page.read_text("utf-8")):
            whole = block.replace("\\\n", " ").splitlines()
            found += [(page.name, line) for line in whole if line.startswith(f"{NAME} ")]
    return found


async def test_the_commands_of_the_documentation_are_understood():
    wrong = []
    for page, line in lines():
        try:
            await understood(line)
        except (click.ClickException, AssertionError) as error:
            wrong.append(f"{page}: {line}: {error}")
    assert wrong == []


async def understood(line: str) -> None:
    """Parse a line of shell that calls the program."""
    words = shlex.split(line, comments=True)
    end = next((n for n, word in enumerate(words) if word in ("|", "&&", ">", "<", ";")), None)
    await parse(program, words[1:end], None)


async def parse(command: click.Command, words: list[str], parent: click.Context | None) -> None:
    """Parse words as the program does, and run nothing."""
    context = await command.make_context(
        command.name or NAME, words, parent=parent, obj=Invocation()
    )
    if isinstance(context.command, click.Group) and (
        rest := [*context._protected_args, *context.args]
    ):
        name, found, left = await resolved(context.command, context, rest)
        assert found is not None, name
        await parse(found, left, context)
    else:
        assert not context.args, "too many arguments"


async def resolved(
    group: click.Group, context: click.Context, rest: list[str]
) -> tuple[str | None, click.Command | None, list[str]]:
    found = group.resolve_command(context, rest)
    return found if isinstance(found, tuple) else await found


@pytest.mark.parametrize(
    "line",
    ["vault-agent serch x", "vault-agent list --orphans --tags x", "vault-agent get note a b"],
)
async def test_a_wrong_command_would_be_found(line: str):
    with pytest.raises((click.ClickException, AssertionError)):
        await understood(line)
