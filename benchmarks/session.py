"""Records what an agent sends and reads: the protocol's official client over standard input.

    python -m benchmarks.session [--vault FOLDER] [--program VAULT-AGENT] > docs/explanation/agent-session.md

Configures the vault as a user would, starts `vault-agent mcp` as the client of `mcp install --print`
does, and searches, reads a section, lists tags, finds lines, follows related notes, and corrects an
error. Takes tokens as characters / 4.4. `--program` runs an installed `vault-agent` instead.
"""  # noqa: E501 (a command)

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.agents import CHARACTERS_A_TOKEN
from benchmarks.server import PROGRAM, isolated
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

VAULT = Path(__file__).parents[1] / "fixtures" / "vault"
INTRODUCTION = """\
# A session of an agent

The protocol's official Python client over `vault-agent mcp`, with the sample vault. Everything that
the agent reads is here. Tokens are estimated as characters / 4.4. Written by
`python -m benchmarks.session`.
"""


class Step(NamedTuple):
    """A call, and why an agent makes it."""

    why: str
    tool: str
    arguments: dict[str, Any]


STEPS = (
    Step("Search", "vault_search", {"query": "why is my bread dense", "limit": 3}),
    Step("Look at the headings", "vault_read", {"path": "Dense bread", "view": "outline"}),
    Step("List the tags", "vault_list", {"kind": "tags", "limit": 8}),
    Step("Find lines", "vault_search", {"query": r"\b\d+ ?°C", "match": "regex", "path": "Bakery"}),
    Step("Follow related notes", "vault_related", {"path": "Bakery/Dense bread.md", "limit": 3}),
    Step("Misspell a name", "vault_read", {"path": "Sourdoh starter"}),
)


def tokens(text: str) -> int:
    return round(len(text) / CHARACTERS_A_TOKEN)


async def record(command: str, arguments: list[str], environment: dict[str, str]) -> str:
    """Return the session as Markdown."""
    parts = [INTRODUCTION]
    total = 0

    async def call(why: str, tool: str, sent: dict[str, Any]) -> tuple[str, bool]:
        nonlocal total
        result = await client.call_tool(tool, sent)
        text = result.content[0].text
        asked = f"{tool} {json.dumps(sent, ensure_ascii=False)}"
        total += tokens(asked) + tokens(text)
        cost = f"{tokens(asked)} tokens sent, {tokens(text)} read"
        parts.append(f"## {why}\n\n{cost}\n\n```\n> {asked}\n{text.rstrip()}\n```\n")
        return text, result.is_error

    server = StdioServerParameters(command=command, args=arguments, env=environment)
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        schemas = json.dumps(
            [each.model_dump(by_alias=True, exclude_none=True) for each in tools],
            ensure_ascii=False, separators=(",", ":"),
        )  # fmt: skip
        parts.append(
            f"The agent reads the schemas of {len(tools)} tools once: about {tokens(schemas)}"
            " tokens.\n"
        )
        for step in STEPS:
            text, failed = await call(*step)
            if step.arguments.get("view") == "outline":
                # A section, by a heading that the outline shows.
                section = re.findall(r"^\d+: #+ (.+)$", text, re.MULTILINE)[-1]
                await call(
                    "Read a section",
                    "vault_read",
                    {"path": step.arguments["path"], "section": section},
                )
            if failed:
                await call("Act on the error", "vault_read", {
                    "path": text.split("\n- ")[1].split("\n")[0], "lines": "1-12",
                })  # fmt: skip
    parts.append(f"In all, about {total} tokens for {len(parts) - 2} calls.")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, default=VAULT)
    parser.add_argument("--program", default=PROGRAM)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        vault = Path(folder) / "Notes"
        shutil.copytree(given.vault, vault)
        environment = isolated(home)

        def run(*arguments: str) -> str:
            made = subprocess.run(
                [given.program, *arguments], env=environment, check=True, capture_output=True,
                text=True,
            )  # fmt: skip
            return made.stdout

        run("config", "set", "vault.root", str(vault))
        printed = run("mcp", "install", "--print", "claude-code").split()
        command, *arguments = printed[printed.index("--") + 1 :]
        try:
            print(asyncio.run(record(command, arguments, environment)))
        finally:
            run("serve", "--stop")


if __name__ == "__main__":
    main()
