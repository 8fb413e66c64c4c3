"""Prompts. They hold our words only: nothing of a vault enters them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.mcp.tool import ClientTools


class Prompt(NamedTuple):
    """A prompt with one argument, `{value}` in its text.

    `toolsets` has the toolsets with the tools that the text names, and for each what stands in the
    text for other names in braces. `needs` is the right that it needs, `settings` has those that
    enable it, and `not_for_named` whether named agents lack it.
    """

    description: str
    argument: str
    text: str
    toolsets: Mapping[str, Mapping[str, str]]
    needs: str | None = None
    settings: Sequence[str] = ()
    not_for_named: bool = False

    def text_for(self, toolset: str, value: str) -> str:
        """Return the text for a client with a toolset that the prompt has."""
        return self.text.format(value=value, **self.toolsets[toolset])


_ROWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PROMPTS: Mapping[str, Prompt] = {name: Prompt(**row) for name, row in _ROWS.items()}


def prompts_for(client: ClientTools) -> dict[str, Prompt]:
    """Return the prompts that a client has."""
    return {
        name: prompt
        for name, prompt in PROMPTS.items()
        if client.toolset in prompt.toolsets
        and (prompt.needs is None or prompt.needs in client.rights)
        and client.has(prompt.settings, not_for_named=prompt.not_for_named)
    }


def prompt_entry(name: str, prompt: Prompt) -> dict[str, Any]:
    """Return a prompt as lists have it."""
    return {
        "name": name,
        "description": prompt.description,
        "arguments": [{"name": prompt.argument, "required": True}],
    }


def prompt_text(name: str, arguments: dict[str, str], client: ClientTools) -> str | None:
    """Return the text of a prompt, or None if the name or its argument is wrong."""
    prompt = prompts_for(client).get(name)
    if prompt is None or not arguments.get(prompt.argument, "").strip():
        return None
    return prompt.text_for(client.toolset, arguments[prompt.argument])
