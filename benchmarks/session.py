"""Records what an agent sends and reads: the protocol's official client over standard input.

    python -m benchmarks.session [--vault FOLDER] [--program VAULT-AGENT] > docs/explanation/agent-session.md
    python -m benchmarks.session --writing > docs/explanation/agent-session-writing.md

Configures the vault as a user would, starts `vault-agent mcp` as the client of `mcp install --print`
does, and searches, reads a section, lists tags, finds lines, follows related notes, and corrects an
error. With `--writing` it keeps notes instead, as an agent with a folder of its own that may create,
append and edit. Takes tokens as characters / 4.4. `--program` runs an installed `vault-agent` instead.
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


WRITING = """\
# A session that writes

An agent with the folder `Bakery` of the sample vault and the rights `create`, `append` and `edit`.
The protocol's official Python client over `vault-agent mcp --agent baker`. Everything that the
agent reads is here. Tokens are estimated as characters / 4.4. Written by
`python -m benchmarks.session --writing`.
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


WRITING_STEPS = (
    Step(
        "Create a note",
        "vault_write",
        {
            "path": "Trials/Rye at 80 percent",
            "content": "# Rye at 80 percent\n\n## Log\n\n- First bake: gummy.\n",
            "frontmatter": {"tags": ["bakery/trial"], "status": "running"},
        },
    ),
    Step(
        "Append under a heading",
        "vault_write",
        {
            "path": "Trials/Rye at 80 percent.md",
            "content": "- Second bake: 20 minutes longer, dry crumb.\n",
            "mode": "append",
            "section": "Log",
        },
    ),
    Step(
        "Repeat an append after a lost reply",
        "vault_write",
        {
            "path": "Trials/Rye at 80 percent.md",
            "content": "- Second bake: 20 minutes longer, dry crumb.\n",
            "mode": "append",
            "section": "Log",
        },
    ),
    Step(
        "Add a task",
        "task_add",
        {"path": "Trials/Rye at 80 percent.md", "text": "Third bake at 75 percent"},
    ),
    Step(
        "Replace a text that is there more than once",
        "vault_replace",
        {"path": "Trials/Rye at 80 percent.md", "search": "bake", "replace": "loaf"},
    ),
    Step(
        "Give enough of the text",
        "vault_replace",
        {
            "path": "Trials/Rye at 80 percent.md",
            "search": "First bake: gummy.",
            "replace": "First bake: gummy, cut too hot.",
        },
    ),
    Step(
        "Set a key",
        "vault_frontmatter",
        {
            "path": "Trials/Rye at 80 percent.md",
            "action": "set",
            "key": "status",
            "value": "done",
        },
    ),
    Step(
        "Complete the task",
        "task_set",
        {
            "path": "Trials/Rye at 80 percent.md",
            "line": 11,
            "text": "Third bake at 75 percent",
            "status": "done",
        },
    ),
    Step("Take the last write back", "vault_undo", {}),
    Step(
        "Write outside its folder",
        "vault_write",
        {"path": "../Garden/Index.md", "content": "x", "mode": "append"},
    ),
)


def tokens(text: str) -> int:
    return round(len(text) / CHARACTERS_A_TOKEN)


async def record(
    command: str, arguments: list[str], environment: dict[str, str], *, writing: bool
) -> str:
    """Return the session as Markdown."""
    parts = [WRITING if writing else INTRODUCTION]
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
        if writing:
            await client.call_tool("vault_list", {})  # waits for the first index
        for step in WRITING_STEPS if writing else STEPS:
            text, failed = await call(*step)
            if step.arguments.get("view") == "outline":
                # A section, by a heading that the outline shows.
                section = re.findall(r"^\d+: #+ (.+)$", text, re.MULTILINE)[-1]
                await call(
                    "Read a section",
                    "vault_read",
                    {"path": step.arguments["path"], "section": section},
                )
            if failed and not writing:
                await call("Act on the error", "vault_read", {
                    "path": text.split("\n- ")[1].split("\n")[0], "lines": "1-12",
                })  # fmt: skip
    parts.append(f"In all, about {total} tokens for {len(parts) - 2} calls.")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vault", type=Path, default=VAULT)
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--writing", action="store_true")
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
        agent: tuple[str, ...] = ()
        if given.writing:
            run("config", "set", "write.folders", "Bakery")
            run("config", "set", "write.enabled", "true")
            rights = ("--write", "create,append,edit")
            run("agents", "add", "baker", "--folder", "Bakery", *rights)
            agent = ("--agent", "baker")
        printed = run("mcp", "install", "--print", "claude-code", *agent).split()
        command, *arguments = printed[printed.index("--") + 1 :]
        try:
            print(asyncio.run(record(command, arguments, environment, writing=given.writing)))
        finally:
            run("serve", "--stop")


if __name__ == "__main__":
    main()
