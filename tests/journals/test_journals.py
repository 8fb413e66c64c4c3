"""Every session leaves one journal: at once, completed later, never over what a person wrote."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.support.chat_endpoint import ChatEndpoint
from tests.support.clocks import PATIENCE
from tests.support.local_model import redirect, status
from tests.support.made_sessions import Made, Writer, made_session
from tests.support.registered_vaults import RegisteredVaults, indexed
from tests.support.secret_forms import FORMS
from tests.support.secret_forms import made as made_of
from tests.support.waiting import eventually_async, nothing_happens

from vault_agent.api.authoring import ADD_TO_DEVLOG, DevlogBody
from vault_agent.api.caller import OWNER
from vault_agent.api.context import CallContext
from vault_agent.api.operation import perform
from vault_agent.endpoint import breaker
from vault_agent.errors import NotFound
from vault_agent.journals import journals as journals_module
from vault_agent.journals import sessions as sessions_module
from vault_agent.journals.kept_texts import lines_of
from vault_agent.journals.notes import JournalNotes
from vault_agent.journals.session_facts import SessionFacts
from vault_agent.model.deliveries import MemoryNews
from vault_agent.model.jobs import JobKind
from vault_agent.model.sessions import SessionEvent
from vault_agent.store.sessions.turn import SAID
from vault_agent.system.locks import locked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vault_agent.app import App
    from vault_agent.journals.session_facts import Gathered
    from vault_agent.model.journals import Journal

NOW = time.time()


class Desk:
    """A project, and the events and transcripts of its sessions."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = RegisteredVaults(folder)
        self.home = self.world.folder / "home"
        self.home.mkdir()
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        monkeypatch.delenv("CODEX_HOME", raising=False)
        self.world.write(self.world.default, {"Bread.md": "# Bread\n"})
        self.root = self.world.project(
            "shop",
            {
                "modules/queue.md": "---\nfiles: [src]\n---\n# Queue\n\n## Purpose\nWaits.\n",
                "decisions/retry.md": "# Retry policy\n",
            },
        )
        self.project = self.root.parent.parent

    @asynccontextmanager
    async def app(self, **sections: Any) -> AsyncIterator[App]:
        journal = {"enabled": True, **sections.pop("journal", {})}
        async with self.world.app(journal=journal, **sections) as app:
            self.vault = app.vaults.known.find("project:shop").identity
            async with app.vaults.open("project:shop") as vault:
                if vault.jobs.running is None:
                    await vault.submit(JobKind.INDEX)
                await indexed(vault)
            yield app

    def event(self, made: Made, kind: str, at: float, **more: Any) -> SessionEvent:
        return SessionEvent(
            agent=made.agent, event=kind, name=kind, session_id=made.session_id,
            cwd=str(self.project), at=at, vault=self.vault, **more,
        )  # fmt: skip

    def transcript(self, made: Made) -> str:
        folder = self.home / ".claude/projects/shop"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{made.session_id}.jsonl"
        path.write_bytes(made.data())
        return str(path)

    async def another(self, app: App, number: int) -> None:
        """Wait for the journal of a later session: what was due before has been tried by then."""
        made = made_session("claude-code", str(self.project), number)
        await self.run(app, made, now=NOW + 190)
        await self.settled(app, made.session_id, "complete", "incomplete")

    async def run(
        self, app: App, made: Made, *, prompts: int = 2, now: float = NOW, **end: Any
    ) -> None:
        """Tell of a whole session."""
        assert app.sessions is not None
        path = end.pop("transcript_path", None) or self.transcript(made)
        await self.tell(app, self.event(made, "start", now - 600, transcript_path=path))
        for number in range(prompts):
            text = made.prompts[0] if made.prompts and not number else f"More {number}"
            await self.tell(app, self.event(made, "prompt", now - 500 + number, prompt=text))
        await self.tell(
            app, self.event(made, "stop", now - 300, last_message=made.last_message or "Done.")
        )
        await self.tell(app, self.event(made, "end", now - 200, reason="other", **end))

    async def tell(self, app: App, event: SessionEvent) -> None:
        assert app.sessions is not None
        await eventually_async(lambda: app.sessions.leads)
        await app.sessions.take(event)

    async def settled(self, app: App, session_id: str, *states: str) -> Journal:
        """Wait until the journal of a session is in one of the states."""
        assert app.journals is not None
        store = app.journals.store
        wanted = states or ("complete",)
        found = await eventually_async(
            lambda: store.get(session_id), lambda each: each is not None and each.state in wanted
        )
        assert found is not None
        return found

    def notes(self) -> dict[str, str]:
        folder = self.root / "journals"
        return {each.name: each.read_text() for each in sorted(folder.glob("[!.]*"))}

    def note(self) -> str:
        ((_, text),) = self.notes().items()
        return text


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(journals_module, "_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(breaker, "_FIRST_WAIT", 0.05)
    return Desk(tmp_path, monkeypatch)


async def put(app: App, journal: Journal) -> None:
    assert app.journals is not None
    async with app.sessions.store.turn(journal.session_id) as turn:
        await turn.put(journal)


def front(text: str) -> dict[str, Any]:
    return yaml.safe_load(text.split("---\n")[1])


async def test_a_session_leaves_one_complete_journal(desk: Desk):
    made = made_session("claude-code", str(desk.project), 2)
    async with desk.app() as app:
        await desk.run(app, made)
        journal = await desk.settled(app, made.session_id)
        assert app.sessions is not None
        session = await app.sessions.get(made.session_id)
        assert session is not None
        await eventually_async(  # they go when the journal is complete
            lambda: app.sessions.texts(session), lambda texts: not texts
        )
    fields = front(desk.note())
    assert fields["status"] == "complete"
    assert fields["generator"] == "extract"
    assert fields["files"] == sorted(made.edited)
    assert fields["links"][0] == "modules/queue"
    assert "[[modules/queue|Queue]]" in desk.note()
    assert fields["session"] == made.session_id
    assert journal.path == f"journals/{next(iter(desk.notes()))}"
    assert journal.title == fields["title"]
    assert not (desk.world.default / "journals").exists()


async def test_short_and_excluded_sessions_leave_none(desk: Desk):
    writer = Writer("claude-code", str(desk.project))
    writer.prompt("Hello")
    short = writer.end()
    private = made_session("claude-code", str(desk.project), 4)
    (desk.project / "private").mkdir()
    async with desk.app(journal={"exclude": ["private"]}) as app:
        await desk.run(app, short, prompts=1)
        journal = await desk.settled(app, short.session_id, "skipped")
        assert journal.reason == "short"
        event = desk.event(private, "start", NOW - 99)._replace(cwd=str(desk.project / "private"))
        await desk.tell(app, event)
        await desk.tell(app, desk.event(private, "end", NOW - 98))
        assert (await desk.settled(app, private.session_id, "skipped")).reason == "excluded"
        assert app.journals is not None
        assert await app.journals.page() == []
        assert len(await app.journals.page(state="all")) == 2
        # What is asked for is written all the same.
        await app.journals.make(short.session_id)
        await desk.settled(app, short.session_id)
    assert len(desk.notes()) == 1


async def test_a_model_replaces_the_extract(desk: Desk):
    made = made_session("claude-code", str(desk.project), 3)
    async with ChatEndpoint() as endpoint:
        chat = {"enabled": True, "model": "test-model", "endpoint": endpoint.url}
        async with desk.app(chat=chat) as app:
            await desk.run(app, made)
            await desk.settled(app, made.session_id)
        (question,) = endpoint.questions
    assert made.prompts[0] in question
    assert len(question) <= 24_000
    fields = front(desk.note())
    assert (fields["generator"], fields["status"]) == ("model", "complete")
    assert fields["title"] == "Retries for the queue"
    assert "One table of waits." in desk.note()
    assert fields["files"] == sorted(made.edited)


async def test_a_failing_model_leaves_the_extract_and_is_asked_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(journals_module, "WAITS", (0.3,))
    made = made_session("claude-code", str(desk.project), 3)
    async with ChatEndpoint() as endpoint, ChatEndpoint() as other:
        chat = {
            "enabled": True, "model": "test-model", "endpoint": endpoint.url, "timeout_seconds": 1,
        }  # fmt: skip
        endpoint.always = redirect(other.url)
        async with desk.app(chat=chat) as app:
            await desk.run(app, made)

            async def journal() -> Journal:
                return await desk.settled(app, made.session_id, "incomplete")

            await eventually_async(journal, lambda each: each.reason == "model_unavailable")
            fields = front(desk.note())
            assert fields["status"] == "incomplete"
            assert fields["incomplete_reason"] == "model_unavailable"
            assert fields["generator"] == "extract"
            endpoint.always = None
            endpoint.answer = "I will not."
            await eventually_async(journal, lambda each: each.reason == "model_invalid")
            assert front(desk.note())["incomplete_reason"] == "model_invalid"
            endpoint.answer = ChatEndpoint().answer
            await desk.settled(app, made.session_id)
        assert other.requests == []
    assert front(desk.note())["status"] == "complete"
    assert "incomplete_reason" not in front(desk.note())


async def test_what_a_person_changed_is_never_rewritten(desk: Desk):
    made = made_session("claude-code", str(desk.project), 5)
    async with ChatEndpoint() as endpoint:
        endpoint.always = status(500)
        chat = {"enabled": True, "model": "test-model", "endpoint": endpoint.url}
        async with desk.app(chat=chat) as app:
            await desk.run(app, made)
            journal = await desk.settled(app, made.session_id, "incomplete")
            path = desk.root / (journal.path or "")
            mine = path.read_text() + "\nMy own words.\n"
            path.write_text(mine)
            endpoint.always = None
            assert app.journals is not None
            await app.journals.make(made.session_id)
            assert (await desk.settled(app, made.session_id)).reason == "edited"
            assert path.read_text() == mine
            await app.journals.make(made.session_id)
            await nothing_happens(path.read_text, then=lambda: desk.another(app, 98))
            assert path.read_text() == mine
            path.unlink()  # deleted: it does not come back by itself
            await desk.tell(app, desk.event(made, "prompt", NOW - 50, prompt="Go on"))
            await desk.tell(app, desk.event(made, "end", NOW - 40))
            await nothing_happens(path.exists, then=lambda: desk.another(app, 99))
    assert len(desk.notes()) == 2  # of the other sessions


async def test_a_session_that_goes_on_keeps_its_one_journal(desk: Desk):
    made = made_session("claude-code", str(desk.project), 6)
    async with desk.app() as app:
        await desk.run(app, made)
        await desk.settled(app, made.session_id)
        more = Writer("claude-code", str(desk.project), session_id=made.session_id)
        more.prompt("One more thing")
        more.edit("src/later.py")
        made.lines += more.made.lines
        desk.transcript(made)
        await desk.tell(app, desk.event(made, "prompt", NOW - 100, prompt="One more thing"))
        await desk.tell(app, desk.event(made, "end", NOW - 50, reason="other"))
        await eventually_async(lambda: "src/later.py" in desk.note())
    assert front(desk.note())["files"] == sorted({*made.edited, "src/later.py"})


async def test_drafts_wait_for_a_review(desk: Desk):
    first, second = (made_session("claude-code", str(desk.project), seed) for seed in (7, 8))
    async with desk.app(journal={"ask": True}) as app:
        assert app.journals is not None
        for made in (first, second):
            await desk.run(app, made)
            await desk.settled(app, made.session_id, "draft")
        assert not (desk.root / "journals").exists()
        session = await app.sessions.get(first.session_id)
        assert session is not None
        assert "2 journals wait" in (await app.sessions.waiting_drafts(session)).message
        await app.journals.review(first.session_id, accept=True)
        rejected = await app.journals.review(second.session_id, accept=False)
        assert (rejected.state, rejected.reason) == ("skipped", "rejected")
        assert await app.sessions.waiting_drafts(session) is None
        with pytest.raises(NotFound):
            await app.journals.review(second.session_id, accept=True)
    assert front(desk.note())["session"] == first.session_id


async def test_followers_of_both_vaults_hear_that_a_journal_is_written(desk: Desk):
    made = made_session("claude-code", str(desk.project), 7)
    heard = MemoryNews(made.session_id, made.agent, "journal", 0, 0)
    async with desk.app() as app, app.vaults.open("project:shop") as project:
        followed = [
            each.events.follow(each.events.last_id) for each in (app.vaults.default, project)
        ]
        await desk.run(app, made)
        for news in followed:
            async with asyncio.timeout(PATIENCE):
                while (await anext(news)).item != heard:
                    pass
            await news.aclose()
        await desk.settled(app, made.session_id, "complete", "incomplete")


async def test_a_journal_that_may_have_a_secret_waits_for_a_look(desk: Desk):
    unknown = "Kx7mQ2vRt9" + "LzBw4Hn8Pd5Ys3Gf"
    writer = Writer("claude-code", str(desk.project))
    writer.prompt(f"Deploy the shop with {unknown}")
    writer.edit("src/queue.py")
    writer.say("Deployed.")
    made = writer.end()
    async with desk.app() as app:
        assert app.journals is not None
        await desk.run(app, made)
        await desk.settled(app, made.session_id, "draft")
        assert desk.notes() == {}
        session = await app.sessions.get(made.session_id)
        assert session is not None
        assert "A journal waits" in (await app.sessions.waiting_drafts(session)).message
        # A person may take it all the same.
        taken = await app.journals.review(made.session_id, accept=True)
        assert taken.state == "complete"
    assert unknown in desk.note()


async def test_a_journal_stays_as_it_was_if_a_doubtful_new_text_is_rejected(desk: Desk):
    made = made_session("claude-code", str(desk.project), 3)
    async with desk.app() as app:
        assert app.journals is not None
        await desk.run(app, made)
        await desk.settled(app, made.session_id)
        before = desk.note()
        sections = {"Goal": "Use Kx7mQ2vRt9" + "LzBw4Hn8Pd5Ys3Gf", "Outcome": "Done."}
        await app.journals.make(made.session_id, sections)
        await desk.settled(app, made.session_id, "draft")
        rejected = await app.journals.review(made.session_id, accept=False)
        assert rejected.state == "complete"
        assert desk.note() == before
        await app.journals.make(made.session_id, {"Goal": "Plain words", "Outcome": "Done."})
        await eventually_async(lambda: "Plain words" in desk.note())


async def test_no_secret_is_in_a_journal_or_in_what_is_kept_for_it(desk: Desk):
    planted = [form for form in FORMS if "\n" not in form.template]
    writer = Writer("claude-code", str(desk.project))
    secrets: list[str] = []
    for number, form in enumerate(planted):
        text, found = made_of(form, 3)
        secrets += [each for each in found if len(each) >= 8]
        if number % 3 == 0:
            writer.run(text, f"error: {text}\n", fails=True)
        elif number % 3 == 1:
            writer.say(f"I decided to do this because it works.\n{text}\n")
        else:
            writer.prompt(f"Look at this:\n{text}\n")
    writer.edit("src/queue.py")
    made = writer.end()
    assert len(planted) > 300
    async with desk.app() as app:
        assert app.journals is not None
        await desk.run(app, made, prompts=3)
        await desk.settled(app, made.session_id, "complete", "draft")
        for line in made.prompts:
            await app.journals.add_line(made.session_id, "insight", line[:1_900])
        journal = await desk.settled(app, made.session_id, "complete", "draft")
        if journal.state == "draft":
            await app.journals.review(made.session_id, accept=True)
    files = [each for each in desk.world.folder.rglob("*") if each.is_file()]
    kept = [each for each in files if ".claude" not in each.parts]
    assert desk.notes()
    for each in kept:
        content = each.read_bytes()
        assert [one for one in secrets if one.encode() in content] == [], each


async def test_old_records_go_and_drafts_stay(desk: Desk):
    first, second = (made_session("claude-code", str(desk.project), seed) for seed in (7, 8))
    async with desk.app(journal={"ask": True}) as app:
        assert app.journals is not None
        assert app.sessions is not None
        for made in (first, second):
            await desk.run(app, made)
            await desk.settled(app, made.session_id, "draft")
        await app.journals.review(second.session_id, accept=False)
        await app.sessions.store.forget_before(NOW - 3_600)
        assert len(await app.journals.page(state="all")) == 2
        await app.sessions.store.forget_before(time.time() + 60)
        assert [each.session_id for each in await app.journals.page(state="all")] == [
            first.session_id
        ]
        assert (await app.journals.draft(first.session_id))[1].startswith("---\n")


async def test_a_journal_asked_for_while_it_is_written_is_written_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    made = made_session("claude-code", str(desk.project), 7)
    async with desk.app() as app:
        journals = app.journals
        assert journals is not None
        real, asked = journals._texts.of, 0

        async def slowly(*given: Any, **more: Any) -> Any:
            nonlocal asked
            text = await real(*given, **more)
            asked += 1
            if asked == 1:
                await journals.make(made.session_id, {"Outcome": "Sealed.", "Goal": "Seal it."})
            return text

        monkeypatch.setattr(journals._texts, "of", slowly)
        await desk.run(app, made)
        await desk.settled(app, made.session_id)
        assert asked == 2
    assert "Sealed." in desk.note()


async def test_lines_that_come_at_once_are_all_kept(desk: Desk):
    made = made_session("claude-code", str(desk.project), 7)
    async with desk.app() as app:
        assert app.journals is not None
        await desk.tell(app, desk.event(made, "start", NOW - 600))
        lines = [f"Line {number}" for number in range(12)]
        await asyncio.gather(
            *(app.journals.add_line(made.session_id, "impl", each) for each in lines)
        )
        kept = await lines_of(app.sessions.store, made.session_id)
        assert sorted(each.text for each in kept) == sorted(lines)


async def test_another_server_writes_no_journal_while_one_takes_the_events(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    looks = 0

    def counted(path: Path) -> AbstractContextManager[None]:
        nonlocal looks
        looks += 1
        return locked(path)

    monkeypatch.setattr(sessions_module, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(sessions_module, "locked", counted)
    made = made_session("claude-code", str(desk.project), 7)
    async with desk.app() as app:
        assert app.journals is not None
        await desk.run(app, made)
        known = await desk.settled(app, made.session_id)
        await put(app, replace(known, state="pending", next_at=0.0))
    with ExitStack() as other_server:
        other_server.enter_context(locked(desk.world.data / "sessions.lock"))
        async with desk.app() as app:
            before = looks
            await eventually_async(lambda: looks > before + 2)
            assert app.journals is not None
            found = await app.journals.store.get(made.session_id)
            assert found is not None
            assert found.state == "pending"
            other_server.close()
            await desk.settled(app, made.session_id)


async def test_the_agents_own_sections_and_lines_of_the_devlog(desk: Desk):
    made = made_session("claude-code", str(desk.project), 9)
    key = "sk-ant-" + "a1B2c3D4e5F6g7H8i9J0"
    async with desk.app() as app:
        assert app.journals is not None
        path = desk.transcript(made)
        await desk.tell(app, desk.event(made, "start", NOW - 600, transcript_path=path))
        only = await app.journals.session_of_line(desk.vault, None)
        assert only == made.session_id
        await app.journals.add_line(only, "insight", f"The clock drifts {key}")
        sections = {"Goal": f"Own words {key}", "Outcome": "It works, see [[modules/queue]]."}
        await app.journals.make(made.session_id, sections, "My title")
        await desk.settled(app, made.session_id)
        before = front(desk.note())
        await desk.tell(app, desk.event(made, "end", NOW - 100, reason="other"))
        await desk.settled(app, made.session_id)
        assert front(desk.note())["generator"] == before["generator"] == "agent"
        with pytest.raises(NotFound):
            await app.journals.make("nobody")
    assert front(desk.note())["title"] == "My title"
    assert "[[modules/queue]]" in desk.note()
    stored = [desk.note(), *(p.read_text() for p in (desk.world.data / "journals").rglob("*.json"))]
    assert all(key not in each for each in stored)
    assert any("[redacted: anthropic]" in each for each in stored)


async def test_a_missing_transcript_is_tried_again(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(journals_module, "WAITS", (0.3,))
    made = made_session("claude-code", str(desk.project), 10)
    path = Path(desk.transcript(made))
    hidden = path.with_suffix(".hidden")
    path.rename(hidden)
    async with desk.app() as app:
        await desk.run(app, made, transcript_path=str(path))
        await desk.settled(app, made.session_id, "incomplete")
        assert front(desk.note())["incomplete_reason"] == "transcript_missing"
        assert made.prompts[0] in desk.note()
        hidden.rename(path)
        await desk.settled(app, made.session_id)
    assert front(desk.note())["files"] == sorted(made.edited)


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "kill -9 at any point of a session's journal",
    "no session without its journal, none with two; a note edited meanwhile stays",
)
async def test_an_interrupted_server_finishes_the_journal(desk: Desk):
    made = made_session("claude-code", str(desk.project), 11)
    async with desk.app() as app:
        await desk.run(app, made)
        journal = await desk.settled(app, made.session_id)
        # As a crash leaves it between the note and its record.
        crashed = journals_module.replace(
            journal, state="pending", hash=None, hash_next=journal.hash, next_at=0.0
        )
        assert app.journals is not None
        await put(app, crashed)
    async with desk.app() as app:
        again = await desk.settled(app, made.session_id)
        assert (again.hash, again.reason) == (journal.hash, None)
    assert len(desk.notes()) == 1


async def test_sessions_that_end_at_once_and_begin_alike_have_two_journals(desk: Desk):
    first, second = (made_session("claude-code", str(desk.project), seed) for seed in (15, 16))
    second.session_id = first.session_id[:8] + second.session_id[8:]
    async with desk.app() as app:
        await asyncio.gather(desk.run(app, first), desk.run(app, second))
        for made in (first, second):
            await desk.settled(app, made.session_id)
    found = {front(text)["session"]: front(text)["id"] for text in desk.notes().values()}
    assert found.keys() == {first.session_id, second.session_id}
    assert len(set(found.values())) == 2


async def test_modules_list_their_journals_where_that_is_wanted(desk: Desk):
    made = made_session("claude-code", str(desk.project), 12)
    async with desk.app(journal={"update_modules": True}) as app:
        await desk.run(app, made)
        await desk.settled(app, made.session_id)
    module = (desk.root / "modules/queue.md").read_text()
    assert module.count("[[journals/") == 1
    assert "## History\n" in module


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the project's vault is away",
    "the journal waits and is written when it is back",
)
async def test_a_vault_that_is_away_loses_no_journal(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(journals_module, "WAITS", (0.2,))
    made = made_session("claude-code", str(desk.project), 13)
    async with desk.app() as app:
        await desk.tell(
            app, desk.event(made, "start", NOW - 600, transcript_path=desk.transcript(made))
        )
        away = desk.root.with_name("away")
        desk.root.rename(away)
        assert app.journals is not None
        await app.journals.make(made.session_id)
        store = app.journals.store
        journal = await eventually_async(
            lambda: store.get(made.session_id), lambda each: each is not None and each.attempts > 1
        )
        assert journal is not None
        assert journal.state == "pending"
        away.rename(desk.root)
        await desk.settled(app, made.session_id)
    assert len(desk.notes()) == 1


async def test_with_the_switch_off_nothing_is_written(desk: Desk):
    made = made_session("claude-code", str(desk.project), 14)
    async with desk.app(journal={"enabled": False}, memory={"enabled": True}) as app:
        assert app.journals is None
        await desk.run(app, made)
        assert app.sessions is not None
        store = app.sessions.store
        assert await store.open_ones() == ()
        assert await store.texts(made.session_id, *SAID) == []
    assert not (desk.root / "journals").exists()
    assert not (desk.world.data / "journals").exists()


async def test_sections_that_come_while_a_journal_is_left_out_are_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    made = made_session("claude-code", str(desk.project), 1)
    given, gathered = asyncio.Event(), asyncio.Event()
    real = SessionFacts.gather

    async def gather(*args: Any) -> Gathered:
        found = await real(*args)
        gathered.set()
        await given.wait()
        return found

    monkeypatch.setattr(SessionFacts, "gather", gather)
    async with desk.app() as app:
        assert app.journals is not None
        await desk.tell(app, desk.event(made, "start", NOW - 600))
        await desk.tell(app, desk.event(made, "end", NOW - 200, reason="other"))
        await gathered.wait()  # the session was too short
        sections = {"Goal": "Keep the queue", "Outcome": "It is kept."}
        asked = await app.journals.make(made.session_id, sections, "My title")
        assert asked.state == "pending"
        given.set()
        await desk.settled(app, made.session_id)
    assert front(desk.note())["title"] == "My title"
    assert "It is kept." in desk.note()


async def test_a_session_that_ends_again_while_its_journal_is_written_has_all_of_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    made = made_session("claude-code", str(desk.project), 2)
    real = JournalNotes.put
    written, ended = asyncio.Event(), asyncio.Event()

    async def put(*args: Any, **more: Any) -> Journal:
        journal = await real(*args, **more)
        written.set()
        await ended.wait()
        return journal

    monkeypatch.setattr(JournalNotes, "put", put)
    async with desk.app() as app:
        assert app.journals is not None
        store = app.journals.store
        await desk.run(app, made)
        await written.wait()
        for kind, more in (
            ("prompt", {"prompt": "One more thing"}),
            ("stop", {"last_message": "All is well now."}),
            ("end", {"reason": "other"}),
        ):
            await desk.tell(app, desk.event(made, kind, time.time(), **more))
        session = await app.sessions.get(made.session_id)
        assert session is not None
        await eventually_async(
            lambda: store.get(made.session_id), lambda each: each.ended_at == session.ended_at
        )
        ended.set()
        journal = await eventually_async(
            lambda: store.get(made.session_id),
            lambda each: each.state == "complete" and each.next_at is None,
        )
    assert journal.reason is None
    assert "All is well now." in desk.note()


async def test_a_line_of_the_devlog_goes_into_the_journal_of_its_own_session(desk: Desk):
    mine, other = (made_session(agent, str(desk.project), 1) for agent in ("claude-code", "codex"))
    other.session_id = f"other-{other.session_id}"
    async with desk.app(write={"enabled": True, "folders": (".",)}) as app:
        assert app.journals is not None
        for each in (mine, other):
            await desk.tell(app, desk.event(each, "start", NOW - 60))
        async with app.vaults.open("project:shop") as vault:

            async def log(text: str, **more: str) -> None:
                body = DevlogBody(kind="insight", topic="work", text=text, **more)
                await perform(ADD_TO_DEVLOG, CallContext(app, vault, OWNER), body)

            await log("Nobody knows whose.")
            await log("Mine alone.", session_id=mine.session_id)
            with pytest.raises(NotFound):
                await log("Of nobody.", session_id="nobody")
        store = app.sessions.store
        assert [each.text for each in await lines_of(store, mine.session_id)] == ["Mine alone."]
        assert await lines_of(store, other.session_id) == ()
    assert "Of nobody." not in (desk.root / "devlog/work.md").read_text()


@pytest.mark.parametrize("agent", ["generic", "codex"])
async def test_a_session_of_which_only_the_goal_is_known_leaves_no_journal(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, agent: str
):
    monkeypatch.setattr(journals_module, "WAITS", (0.3,))
    made = replace(made_session("codex", str(desk.project), 1), agent=agent)
    async with desk.app(journal={"retry_days": 0}) as app:
        for at, kind, more in (
            (600, "start", {}),
            (500, "prompt", {"prompt": "debounce the panel"}),
            (400, "prompt", {"prompt": "also handle the totals"}),
            (300, "end", {"reason": "other"}),
        ):
            await desk.tell(app, desk.event(made, kind, NOW - at, **more))
        journal = await desk.settled(app, made.session_id, "skipped")
        assert journal.reason == "empty"
        assert desk.notes() == {}
        assert app.journals is not None
        await app.journals.make(made.session_id)  # whoever asks for it gets it
        await desk.settled(app, made.session_id, "complete", "incomplete")
    assert front(desk.note())["session"] == made.session_id
