"""A project in git whose agents have sessions, with a server that takes their events."""

from __future__ import annotations

import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE
from tests.support.made_sessions import Made, Writer
from tests.support.registered_vaults import RegisteredVaults, indexed
from tests.support.waiting import eventually_async

from vault_agent.app import App
from vault_agent.memory.session_file import Session
from vault_agent.model.jobs import JobKind
from vault_agent.model.sessions import SessionEvent

PATIENT = {"enabled": True, "hook_timeout_ms": 10_000}
"""Memory on a machine that may be busy."""
PROMPT = "streaming cost updates in the tracker of the canary"


def note(title: str, text: str, **fields: str) -> str:
    """Return a note with frontmatter."""
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"---\n{lines}---\n# {title}\n\n{text}\n"


SHOP = {
    "journals/last.md": note(
        "Last session", "## Outcome\n\nThe parser is done.", files="[src/parser.py]", type="journal"
    ),
    "decisions/parsing.md": note(
        "Parsing", "## Decision\n\nThe parser takes regex.", files="[src/parser.py]"
    ),
    "notes/tracker.md": note("Tracker", "The streaming cost tracker sums its updates per model."),
    "notes/costs.md": note("Costs", "Streaming cost updates come every second to the tracker."),
    "bugs/never.md": note("Never", "Streaming cost tracker updates.", memory="never"),
}


class Desk:
    """A project in git, and the events and transcripts of its sessions."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = RegisteredVaults(folder)
        self.home = self.world.folder / "home"
        self.home.mkdir()
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        self.world.write(self.world.default, {"Bread.md": "# Bread\n"})
        module = "---\nfiles: [src]\n---\n# Queue\n\n## Purpose\nWaits.\n"
        self.root = self.world.project("shop", {"modules/queue.md": module})
        self.project = self.root.parent.parent
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "me@example.org")
        self.git("config", "user.name", "Me")
        self.commit("src/queue.py", "a = 1\n", "Begin")

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.project), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, path: str, text: str, subject: str, *, author: str = "") -> str:
        """Commit a file, and return what git prints."""
        (self.project / path).parent.mkdir(exist_ok=True)
        (self.project / path).write_text(text)
        self.git("add", path)
        by = [f"--author={author}"] if author else []
        return self.git("commit", "-m", subject, *by)

    @asynccontextmanager
    async def app(self, *, memory: bool = False, **journal: Any) -> AsyncIterator[App]:
        on = {"memory": PATIENT} if memory else {}
        async with self.world.app(journal={"enabled": True, **journal}, **on) as app:
            self.vault = app.vaults.registry.find("project:shop").identity
            vault = await app.vaults.open("project:shop")
            if vault.jobs.running is None:
                await vault.submit(JobKind.INDEX)
            await indexed(vault)
            # An agent gives up after a moment; on a busy machine git alone takes longer.
            app.sessions._deliver_seconds = PATIENCE
            yield app

    def writer(self, session_id: str = "") -> Writer:
        began = time.time() - 600
        return Writer("claude-code", str(self.project), session_id=session_id, began=began)

    def event(self, told: Made, kind: str, at: float, **more: Any) -> SessionEvent:
        return SessionEvent(
            told.agent, kind, kind, told.session_id, str(self.project), at, self.vault, **more
        )

    def transcript(self, told: Made) -> str:
        folder = self.home / ".claude/projects/shop"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{told.session_id}.jsonl"
        path.write_bytes(told.data())
        return str(path)

    async def tell(self, app: App, told: Made, *, ends: bool = True, after: float = 0) -> None:
        """Tell of a session as its hooks do. It ends so many seconds after this moment."""
        at = time.time() + after
        path = self.transcript(told)
        start = self.git("rev-parse", "HEAD") if not told.prompts else self.begun
        events = [self.event(told, "start", at - 600, transcript_path=path, commit=start)]
        events += [
            self.event(told, "prompt", at - 500 + number, prompt=prompt)
            for number, prompt in enumerate(told.prompts)
        ]
        events += [self.event(told, "end", at, reason="exit")] if ends else []
        for event in events:
            await app.sessions.take(event)

    @property
    def begun(self) -> str:
        return self.git("rev-list", "--max-parents=0", "HEAD")

    def work(self, session_id: str = "5b1f3c6e-1111-4222-8333-444455556666") -> Made:
        """Return a session in which something was decided and edited."""
        writer = self.writer(session_id)
        writer.prompt("Limit the retries of the queue in src/queue.py.")
        writer.say("Shall I give up after 5 tries?")
        writer.prompt("no, after 3, support asked for that")
        writer.edit("src/queue.py")
        writer.say("The queue gives up after 3 tries.")
        return writer.end()

    async def state(self, app: App, told: Made, *states: str) -> Session:
        """Wait until the journal of a session is in one of the states."""
        store = app.journals.store
        wanted = states or ("complete",)
        session = await eventually_async(
            lambda: store.get(told.session_id),
            lambda found: (
                found is not None
                and found.journal is not None
                and found.journal.state in wanted
                and found.journal.through >= found.last_event_at
            ),
        )
        assert session is not None
        return session

    async def finish(self, app: App, told: Made, *states: str, after: float = 0) -> Session:
        """Tell of a whole session, and wait until its journal is in one of the states."""
        await self.tell(app, told, after=after)
        return await self.state(app, told, *states)

    def notes(self) -> list[Path]:
        return sorted((self.root / "journals").glob("[!.]*.md"))

    def note(self) -> str:
        [path] = self.notes()
        return path.read_text()
