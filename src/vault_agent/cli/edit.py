"""`vault-agent edit`: the changes within a note."""

from __future__ import annotations

from copy import copy

import asyncclick as click

from vault_agent.cli import frontmatter, replace, section
from vault_agent.cli.command import Group


@click.group("edit", cls=Group)
def command() -> None:
    """Change a part of a note: a section, some text, or its properties."""


command.add_command(section.command)
command.add_command(replace.command)
_properties = copy(frontmatter.command)
_properties.name = "properties"
command.add_command(_properties)
