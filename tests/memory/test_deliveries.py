"""What a session is given is a line of its file, and decides what it is given next."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.support.registered_vaults import indexed
from tests.support.session_desk import PATIENT, Desk

from vault_agent.app import App
from vault_agent.model.identifiers import identify
from vault_agent.model.memory import RecallQuery

QUEUE = "decisions/retries.md"
ABOUT = "why does the queue give up, is that max_attempts in src/queue.py?"


@pytest.fixture
def desk(desk: Desk) -> Desk:
    text = (
        "---\ntype: decision\ntitle: Retries of the queue\nfiles: [src/queue.py]\n---\n"
        "# Retries of the queue\n\n## Decision\n\nThe queue gives up after 3 attempts:"
        " max_attempts is 3, as support asked.\n"
    )
    desk.world.write(
        desk.root, {QUEUE: text, "notes/tea.md": "# Tea\n\nGreen tea at 70 degrees.\n"}
    )
    # Written after its commit, whose time has whole seconds.
    (desk.project / "src/queue.py").write_text("a = 2\n")
    return desk


class Talk:
    """A session that is told of event by event."""

    def __init__(self, desk: Desk, app: App, session_id: str = "abcdefgh-1") -> None:
        self.desk, self.app = desk, app
        self.told = desk.writer(session_id).end()

    async def tell(self, kind: str, *, given: bool = True, **more: Any) -> str:
        """Return the text that an event brings, which the agent is given or not."""
        event = self.desk.event(self.told, kind, time.time(), **more)
        offer = await self.app.sessions.take(event, seconds=30)
        await offer.settle(given)
        return offer.brought.text or ""


async def test_a_note_comes_once_until_the_context_is_new(desk: Desk):
    async with desk.app(memory=True) as app:
        talk = Talk(desk, app)
        # The file that the note is about was changed since the last commit.
        assert QUEUE in await talk.tell("start", source="startup", given=False)
        assert QUEUE in await talk.tell("prompt", prompt=ABOUT)  # the agent never had it
        assert QUEUE not in await talk.tell("prompt", prompt=f"{ABOUT} again")
        assert await talk.tell("prompt", prompt="boil the green soup") == ""
        assert await talk.tell("start", source="resume") == ""
        await talk.tell("compact")
        text = await talk.tell("start", source="compact")
        assert "boil the green soup" in text  # its person's own words
        assert QUEUE in text


async def test_a_start_that_the_agent_never_got_comes_with_its_next_prompt(desk: Desk):
    """No server ran yet, or it did not answer in time."""
    async with desk.app(memory=True) as app:
        talk = Talk(desk, app)
        assert QUEUE in await talk.tell("start", source="startup", given=False)
        assert QUEUE in await talk.tell("prompt", prompt="boil the green soup")
        assert await talk.tell("prompt", prompt="boil the red soup") == ""


async def test_the_start_names_the_session_only_to_agents_that_can_call_tools(desk: Desk):
    async with desk.app(memory=True) as app:
        assert "session abcdefgh" not in await Talk(desk, app).tell("start", source="startup")
    async with desk.world.app(
        journal={"enabled": True}, memory=PATIENT, mcp={"enabled": True}
    ) as app:
        text = await Talk(desk, app, "12345678-x").tell("start", source="startup")
        assert "session 12345678" in text
        assert "generate_session_journal" in text


async def test_two_hooks_of_one_event_bring_one_text(desk: Desk):
    async with desk.app(memory=True) as app:
        talk = Talk(desk, app)
        first = await talk.tell("prompt", prompt=ABOUT)
        assert (QUEUE in first, await talk.tell("prompt", prompt=ABOUT)) == (True, "")


async def test_a_note_that_a_person_adds_comes_next_and_a_changed_one_again(desk: Desk):
    async with desk.app(memory=True) as app:
        talk = Talk(desk, app)
        await talk.tell("prompt", prompt=ABOUT)
        await app.deliveries.add("abcdefgh-1", "project:shop", identify("notes/tea.md"))
        assert "notes/tea.md" in await talk.tell("prompt", prompt="and what else of the queue?")
        path = desk.root / QUEUE
        path.write_text(path.read_text().replace("is 3", "is 4"))
        vault = await app.vaults.open("project:shop")
        await vault.runs.index_paths([QUEUE])
        await indexed(vault)
        shown = await app.deliveries.refresh("abcdefgh-1", apply=True)
        changed = {note.path: note.changed for note in shown.before}
        assert (changed[QUEUE], changed["notes/tea.md"]) == (True, False)
        assert QUEUE in shown.text
        assert QUEUE in await talk.tell("prompt", prompt="go on with the queue")
        session, _ = await app.deliveries.details("abcdefgh-1")
        events = [given.event for given in session.deliveries]
        assert events == ["prompt", "prompt", "prompt"]


async def test_what_is_asked_for_is_logged_and_no_secret_leaves(desk: Desk):
    text = "It fails for badge 4711. password: " + "hunter2x9"
    note = f"---\nfiles: [src/login.py]\n---\n# Login\n\n{text}\n"
    desk.world.write(desk.root, {"bugs/login.md": note})
    async with desk.app(memory=True, redact_patterns=["badge \\d+"]) as app:
        talk = Talk(desk, app)
        await talk.tell("start", source="startup")
        session = await app.deliveries.store.get("abcdefgh-1")
        assert session is not None
        vault = await app.vaults.open("project:shop")
        query = RecallQuery(files=("src/login.py",))
        found = await app.deliveries.recall(vault, query, session)
        assert "bugs/login.md" in found.text
        assert "hunter2x9" not in found.text
        assert "badge 4711" not in found.text
        session = await app.deliveries.store.get("abcdefgh-1")
        assert session.deliveries[-1].event == "manual"
        await app.deliveries.store.forget([session])
        assert await app.deliveries.store.sessions() == ()
