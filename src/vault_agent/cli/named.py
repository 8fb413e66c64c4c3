"""Finds the note that a person names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.model.identifiers import identify

if TYPE_CHECKING:
    from vault_agent.cli.command import Invocation
    from vault_agent.client.client import Client

_ID = re.compile(r"([0-9a-f]{32})(?::[0-9]+)?")


async def note_id(invocation: Invocation, client: Client, name: str) -> str:
    """Return the ID of a note, given its ID, the ID of one of its chunks, or its path."""
    del invocation, client
    if known := _ID.fullmatch(name):
        return known[1]
    path = name.strip().removeprefix("./")
    return identify(path if path.lower().endswith((".md", ".markdown")) else f"{path}.md")
