"""What a session is given is a line of its file, and decides what it is given next."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.registered_vaults import indexed
from tests.support.session_desk import PATIENT, Desk

from vault_agent.memory.takeover import ASIDE, take_over
from vault_agent.model.identifiers import identify
from vault_agent.model.memory import RecallQuery

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.app import App

QUEUE = "decisions/retries.md"
ABOUT = "why does the queue give up, is that max_attempts in src/queue.py?"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk(tmp_path, monkeypatch)
    text = (
        "---\ntype: decision\ntitle: Retries of the queue\nfiles: [src/queue.py]\n---\n"
        "# Retries of the queue\n\n## Decision\n\nThe queue gives up after 3 attempts:"
        " max_attempts is 3, as support asked.\n"
    )
    made.world.write(
        made.root, {QUEUE: text, "notes/tea.md": "# Tea\n\nGreen tea at 70 degrees.\n"}
    )
    return made


class Talk:
    """A session that is told of event by event."""

    def __init__(self, desk: Desk, app: App, session_id: str = "abcdefgh-1") -> None:
        self.desk, self.app = desk, app
        self.told = desk.writer(session_id).end()

    async def tell(self, kind: str, *, given: bool = True, **more: Any) -> str:
        """Return the text that an event brings, which the agent is given or not."""
        assert self.app.sessions is not None
        event = self.desk.event(self.told, kind, time.time(), **more)
        offer = await self.app.sessions.take(event, seconds=30)
        await offer.settle(given)
        return offer.brought.text or ""


async def test_a_note_comes_once_until_the_context_is_new(desk: Desk):
    async with desk.app(memory=True) as app:
        talk = Talk(desk, app)
        # The last commit changed the file that the note is about.
        assert QUEUE in await talk.tell("start", source="startup", given=False)
        assert QUEUE in await talk.tell("prompt", prompt=ABOUT)  # the agent never had it
        assert QUEUE not in await talk.tell("prompt", prompt=f"{ABOUT} again")
        assert await talk.tell("prompt", prompt="boil the green soup") == ""
        assert await talk.tell("start", source="resume") == ""
        await talk.tell("compact")
        text = await talk.tell("start", source="compact")
        assert "boil the green soup" in text  # its person's own words
        assert QUEUE in text


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
        assert app.deliveries is not None
        talk = Talk(desk, app)
        await talk.tell("prompt", prompt=ABOUT)
        await app.deliveries.add("abcdefgh-1", "project:shop", identify("notes/tea.md"))
        assert "notes/tea.md" in await talk.tell("prompt", prompt="and what else of the queue?")
        path = desk.root / QUEUE
        path.write_text(path.read_text().replace("is 3", "is 4"))
        async with app.vaults.open("project:shop") as vault:
            await vault.runs.index_paths([QUEUE])
            await indexed(vault)
        shown = await app.deliveries.refresh("abcdefgh-1", apply=True)
        changed = {note.path: changed for note, changed in shown.before}
        assert (changed[QUEUE], changed["notes/tea.md"]) == (True, False)
        assert QUEUE in shown.recalled.text
        assert QUEUE in await talk.tell("prompt", prompt="go on with the queue")
        details = await app.deliveries.details("abcdefgh-1")
        events = [given.event for given in details.session.given]
        assert events == ["prompt", "prompt", "refresh"]


async def test_what_is_asked_for_is_logged_and_no_secret_leaves(desk: Desk):
    secret = "password: " + "hunter2x9"
    desk.world.write(
        desk.root,
        {"bugs/login.md": f"---\nfiles: [src/login.py]\n---\n# Login\n\nIt fails. {secret}\n"},
    )
    async with desk.app(memory=True) as app:
        assert app.deliveries is not None
        talk = Talk(desk, app)
        await talk.tell("start", source="startup")
        session = await app.deliveries.store.get("abcdefgh-1")
        assert session is not None
        async with app.vaults.open("project:shop") as vault:
            query = RecallQuery(files=("src/login.py",))
            found = await app.deliveries.recall(vault, query, session)
        assert "bugs/login.md" in found.text
        assert "hunter2x9" not in found.text
        session = await app.deliveries.store.get("abcdefgh-1")
        assert session is not None
        assert session.given[-1].event == "manual"
        await app.deliveries.store.forget([session])
        assert await app.deliveries.store.sessions() == ()


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "an upgrade from a version that kept sessions in databases and events in a spool",
    "they become files of lines, once; the old files are set aside",
)
async def test_what_earlier_versions_kept_is_taken_over_once(tmp_path: Path):
    import sqlite3
    from contextlib import closing

    import orjson

    from vault_agent.memory.session_store import SessionStore

    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
        connection.executescript(OLD)
    with closing(sqlite3.connect(tmp_path / "session-texts.db")) as connection:
        connection.execute("CREATE TABLE kept (seq, session_id, kind, name, at, data)")
        about = {"version": 1, "agent": "codex", "sessionId": "s1", "cwd": "/w", "vault": "v"}
        prompt = {**about, "event": "prompt", "name": "p", "at": 12.0, "prompt": "Hello."}
        rows = (1, "s1", "prompt", b"", 12.0, orjson.dumps(prompt))
        connection.execute("INSERT INTO kept VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
    spool = tmp_path / "spool"
    spool.mkdir()
    end = {**about, "event": "end", "name": "e", "at": 30.0, "sessionId": "s2"}
    (spool / "1.json").write_bytes(orjson.dumps(end))
    (spool / "2.json").write_bytes(b"damaged")
    for _ in range(2):
        await take_over(tmp_path)
        sessions = await SessionStore(tmp_path).sessions()
        assert [session.session_id for session in sessions] == ["s2", "s1"]
        [first] = [session for session in sessions if session.session_id == "s1"]
        assert [said.text for said in first.words] == ["Hello."]
        assert first.journal is not None
        assert first.journal.hashes == {"abc"}
        assert first.ended_at == 20.0
    aside = {path.name for path in (tmp_path / ASIDE).iterdir()}
    assert aside == {"sessions.db", "session-texts.db", "spool"}


OLD = """
CREATE TABLE session (id, agent, vault, started_at, last_event_at, ended_at, prompts, model,
    transcript_path, cwd, title, start_commit, end_reason);
INSERT INTO session VALUES ('s1', 'codex', 'v', 10.0, 20.0, 20.0, 1, 'm', NULL, '/w', 'T', NULL,
    'x');
CREATE TABLE journal (session_id, agent, vault, state, reason, title, path, hash, hash_next,
    generator, started_at, ended_at, since, attempts, next_at);
INSERT INTO journal VALUES ('s1', 'codex', 'v', 'complete', NULL, 'T', 'journals/x.md', 'abc',
    NULL, 'extract', 10.0, 20.0, 21.0, 0, NULL);
"""
