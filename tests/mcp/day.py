"""A day's edits of a vault by a real MCP client, through the relay, with git as the witness.

As a program (`python -m tests.mcp.day VAULT NOTE HEADING LINKED`) it makes a git repository of a
copy of a vault, prints every call with the difference that git sees, takes all writes back, and
fails if anything is left. `NOTE` has `HEADING`, and links must lead to `LINKED`.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from tests.support.folders import below
from tests.support.program import PROGRAM
from tests.support.waiting import eventually_async
from tests.support.writable_program import WritableProgram

DAILY = "Journal/2026/A day.md"


class Git:
    """The history of a vault."""

    def __init__(self, vault: Path) -> None:
        self._vault = vault

    def __call__(self, *arguments: str) -> str:
        who = ("-c", "user.name=tests", "-c", "user.email=tests@example.invalid")
        quoting = ("-c", "core.quotePath=false", "-c", "core.autocrlf=false")
        command = ("git", *who, *quoting, *arguments)
        ended = subprocess.run(command, cwd=self._vault, capture_output=True, check=True)
        return ended.stdout.decode("utf-8", "replace")

    def commit(self) -> str:
        """Commit all, and return the difference."""
        self("add", "--all")
        self("commit", "--quiet", "--allow-empty", "--message", "A write")
        return self("show", "--format=", "--unified=0", "HEAD")

    def first(self) -> None:
        """Make the vault a repository. What the writes need for seconds is no part of it."""
        self("init", "--quiet")
        (self._vault / ".git/info/exclude").write_text(".va-*.tmp\n")
        self.commit()


class Day:
    """The calls of one client, and what they changed."""

    def __init__(self, client: Client, git: Git) -> None:
        self._client = client
        self._git = git
        self.diffs: list[tuple[str, str]] = []
        self.tools: set[str] = set()

    async def use(self, name: str, **arguments: Any) -> str:
        """Call a tool that must succeed, and return its text."""
        result = await self._client.call_tool(name, arguments)
        text = str(result.content[0].text)
        assert not result.is_error, f"{name} {arguments}: {text}"
        return text

    async def write(self, name: str, **arguments: Any) -> str:
        """Call a tool that writes, and commit what it has done."""
        text = await self.use(name, **arguments)
        self.tools.add(name)
        self.diffs.append((f"{name} {arguments}\n{text}", self._git.commit()))
        return text

    async def shown_hash(self, path: str, **more: str) -> str:
        """Return the hash that reading shows."""
        text = await self.use("vault_read", path=path, **more)
        found = re.search(r"[hH]ash: (\w{16})$", text, re.MULTILINE)
        assert found, text
        return found[1]

    async def edits(self, note: str, heading: str, linked: str) -> None:
        """Use all tools that write."""
        sent = {"path": DAILY, "content": "# A day\n\n## Log\n\nUp early.\n"}
        await self.write("vault_write", **sent, frontmatter={"mood": "good", "tags": ["day"]})
        await self.write("vault_write", path=DAILY, content="To bed.\n", mode="append")
        await self.write("vault_write", path=note, content="*Seen today.*\n", mode="prepend")
        await self.write(
            "vault_write", path=note, content="- seen\n", mode="append", section=heading
        )
        await self.write("vault_write", path=DAILY, content="Soup\n", mode="upsert", section="Food")
        known = await self.shown_hash(DAILY, section="Log")
        await self.write(
            "vault_write",
            path=DAILY,
            content="Up late.\n",
            mode="overwrite",
            section="Log",
            expectedHash=known,
        )
        dry = await self.use(
            "vault_replace", path=DAILY, search="late", replace="at noon", dryRun=True
        )
        assert "dry run, nothing was written" in dry
        await self.write("vault_replace", path=DAILY, search="late", replace="at noon")
        await self.write(
            "vault_replace", path=DAILY, search=r"^(## )(\w+)$", replace=r"\1The \2", regex=True,
            expectedCount=2, expectedHash=await self.shown_hash(DAILY),
        )  # fmt: skip
        for key, value in (("reviewed", True), ("stars", [1, 2]), ("mood", "yes: 'so' so")):
            await self.write("vault_frontmatter", path=DAILY, action="set", key=key, value=value)
        await self.write("vault_frontmatter", path=note, action="set", key="seen", value="today")
        await self.write("vault_frontmatter", path=DAILY, action="delete", key="stars")
        await self.write("vault_tags", path=note, action="add", tag="seen/today")
        await self.write("vault_tags", path=DAILY, action="remove", tag="day")
        added = await self.write("task_add", path=DAILY, text="Tidy up", due="2026-12-24")
        line = re.search(r":(\d+)", added)
        assert line, added
        task = {"path": DAILY, "line": int(line[1]), "text": "Tidy up"}
        await self.write("task_set", **task, status="done")
        await self.write("task_set", **task, status="open")
        known = await self.shown_hash(linked)
        moved = f"Journal/Moved/{Path(linked).stem} of old.md"
        text = await self.write("vault_move", path=linked, to=moved, expectedHash=known)
        assert " changed in " in text
        known = await self.shown_hash(DAILY)
        sent = {"path": DAILY, "content": "Nothing.\n", "mode": "overwrite"}
        await self.write("vault_write", **sent, expectedHash=known)
        known = await self.shown_hash(moved)
        await self.write("vault_delete", path=moved, confirm=True, expectedHash=known)
        text = await self.write("vault_undo")
        await self.write("vault_undo", writeId=text.rpartition("writeId: ")[2].split()[0])

    async def back(self) -> int:
        """Take all writes back, and return how many."""
        count = 0
        while True:
            result = await self._client.call_tool("vault_undo", {})
            text = str(result.content[0].text)
            if result.is_error:
                assert text.startswith("WRITE_NOT_FOUND"), text
                return count
            count += 1


def folders(vault: Path) -> set[str]:
    """Return the folders of a vault, also those that git does not see."""
    found = (path.relative_to(vault).as_posix() for path in below(vault, "*") if path.is_dir())
    return {path for path in found if not path.startswith(".git")}


async def spent(program: WritableProgram, git: Git, note: str, heading: str, linked: str) -> Day:
    """Make all edits and take them back, and return them."""
    parameters = StdioServerParameters(
        command=PROGRAM[0], args=[*PROGRAM[1:], "mcp"], env=program.environment
    )
    async with Client(parameters) as client:
        day = Day(client, git)
        before = folders(program.vault)
        await day.edits(note, heading, linked)
        assert await day.back() == len(day.diffs) - 2  # one undo is taken back by the other
        await eventually_async(lambda: not any(below(program.vault, ".va-*")))
        left = git("status", "--porcelain"), git("diff", "HEAD", "--stat")
        first = git("rev-list", "--max-parents=0", "HEAD").strip()
        git("checkout", "--quiet", "--detach")
        git("reset", "--quiet", "--soft", first)
        git("add", "--all")
        assert git("status", "--porcelain") == "", left
        assert folders(program.vault) == before
        return day


def server(folder: Path) -> WritableProgram:
    """Return a program that serves MCP, and whose vault may be changed by it."""
    made = WritableProgram(folder)
    made.variables["VAULT_AGENT_MCP_ENABLED"] = "true"
    return made


def main(vault: Path, note: str, heading: str, linked: str) -> None:
    """Spend a day, and print it."""
    with tempfile.TemporaryDirectory() as folder:
        program = server(Path(folder))
        program.vault = vault
        git = Git(vault)
        git.first()
        with program.indexed():
            day = asyncio.run(spent(program, git, note, heading, linked))
        for call, diff in day.diffs:
            print(f"{call}\n{diff}\n{'-' * 80}")
        print(f"{len(day.diffs)} writes with {len(day.tools)} tools, all taken back")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
