"""Every session leaves one journal, with its own commits, never over what a person wrote."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest
from tests.support.secret_forms import FORMS, made
from tests.support.session_desk import Desk

from vault_agent.api.sessions import show_journal
from vault_agent.markdown.frontmatter_edit import read_keys
from vault_agent.memory import journals as journals_module


async def test_a_session_leaves_one_journal_with_what_was_decided(desk: Desk):
    async with desk.app() as app:
        told = desk.work()
        await desk.tell(app, told)
        (desk.project / "src/queue.py").write_text("a = 3\n")
        session = await desk.state(app, told)
        app.sessions.wake()
        await desk.finish(app, told, after=10)  # it went on, and nothing was said
    text = desk.note()
    values = read_keys(text.encode())
    assert values["session"] == told.session_id
    assert (values["type"], values["status"]) == ("journal", "complete")
    assert values["generator"] == "dialogue"
    assert session.journal is not None
    assert values["files"] == ["src/queue.py"]
    assert "Agent proposed: Shall I give up after 5 tries?" in text
    assert "no, after 3, support asked for that" in text
    assert "[[modules/queue|Queue]]" in text


async def test_commits_are_the_sessions_own(desk: Desk):
    writer = desk.writer()
    writer.prompt("Limit the retries of the queue in src/queue.py.")
    writer.edit("src/queue.py")
    writer.run("git commit -am x", desk.commit("src/queue.py", "a = 3\n", "Limit retries"))
    writer.say("Committed.")
    told = writer.end()
    desk.commit("src/other.py", "b = 1\n", "Somebody else's in the same folder")
    async with desk.app() as app:
        await desk.finish(app, told)
    text = desk.note()
    assert "Limit retries" in text
    assert "Somebody" not in text
    assert read_keys(text.encode())["files"] == ["src/queue.py"]


async def test_commits_after_the_session_and_of_others_are_not_its_own(desk: Desk):
    told = desk.work()
    desk.commit("src/queue.py", "a = 3\n", "Limit retries")
    desk.commit("src/queue.py", "a = 4\n", "By a colleague", author="C <c@example.org>")
    async with desk.app() as app:
        await desk.finish(app, told)
        assert "By a colleague" not in desk.note()
        assert "Limit retries" in desk.note()
    later = desk.work("6c1f3c6e-1111-4222-8333-444455556666")
    async with desk.app() as app:
        await desk.finish(app, later, after=-10_000)  # long before the commits
    [text] = [path.read_text() for path in desk.notes() if later.session_id in path.read_text()]
    assert "Limit retries" not in text


async def test_a_file_that_was_put_back_is_not_a_changed_one(desk: Desk):
    writer = desk.writer()
    writer.prompt("Limit the retries of the queue in src/queue.py.")
    writer.edit("src/queue.py")
    writer.edit("src/new.py")
    writer.say("I have put the queue back.")
    (desk.project / "src/new.py").write_text("n = 1\n")
    told = writer.end()
    async with desk.app() as app:
        await desk.finish(app, told)
    assert read_keys(desk.note().encode())["files"] == ["src/new.py"]


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "a person edits, moves or deletes a journal, and the session goes on",
    "the journal is never written again",
)
@pytest.mark.parametrize("change", ["edited", "moved", "deleted"])
async def test_a_journal_that_a_person_has_changed_is_never_rewritten(desk: Desk, change: str):
    async with desk.app() as app:
        told = desk.work()
        await desk.finish(app, told)
        [path] = desk.notes()
        if change == "edited":
            path.write_text(path.read_text() + "Mine.\n")
        elif change == "moved":
            path = path.rename(path.with_name("mine.md"))
        else:
            path.unlink()
        before = path.read_text() if path.exists() else None
        session = await desk.finish(app, told, after=100)
        assert session.journal.reason == "edited"
    assert (path.read_text() if path.exists() else None) == before
    assert len(desk.notes()) == (before is not None)


async def test_an_aborted_session_is_written_when_the_next_one_starts(desk: Desk):
    async with desk.app() as app:
        told = desk.work()
        await desk.tell(app, told, ends=False, after=-100)
        assert desk.notes() == []
        following = desk.writer("7d1f3c6e-1111-4222-8333-4444").end()
        await desk.tell(app, following, ends=False, after=605)
        session = await desk.state(app, told, "incomplete")
        assert session.journal.reason == "crash"
    assert "no, after 3" in desk.note()


async def test_a_session_that_waits_is_no_aborted_one(desk: Desk):
    async with desk.app() as app:
        told = desk.work()
        await desk.tell(app, told, ends=False, after=60)
        await app.journals.write_due()
    assert desk.notes() == []


async def test_the_agents_own_sections_come_first_and_what_follows_is_added(desk: Desk):
    async with desk.app() as app:
        told = desk.work()
        await desk.tell(app, told, ends=False)
        session = await app.journals.session_named(told.session_id[:8], None)
        secret = "password: " + "hunter2x9"
        await app.journals.make(session, {"Goal": "Fewer tries.", "Outcome": secret}, "Retries")
        app.sessions.wake()
        await desk.state(app, told)
        assert "hunter2x9" not in desk.note()
        assert "## Goal\nFewer tries." in desk.note()
        late = time.time() + 60
        words = "keepalive must be off by default"
        await app.sessions.take(desk.event(told, "prompt", late, prompt=words))
        await app.sessions.take(desk.event(told, "end", late + 1))
        await desk.state(app, told)
    assert "## Afterwards" in desk.note()
    assert "keepalive must be off by default" in desk.note()
    assert "## Goal\nFewer tries." in desk.note()


async def test_of_two_open_sessions_the_latest_is_meant(desk: Desk):
    async with desk.app() as app:
        first, second = desk.work(), desk.work("6c1f3c6e-1111-4222-8333-444455556666")
        await desk.tell(app, first, ends=False, after=-100)
        await desk.tell(app, second, ends=False)
        named = await app.journals.session_named(None, desk.vault)
        assert named.session_id == second.session_id
        named = await app.journals.session_named(first.session_id[:8], desk.vault)
        assert named.session_id == first.session_id


async def test_no_secret_and_no_random_token_reaches_a_journal(desk: Desk):
    secrets = [made(form, 3) for form in FORMS[:40]]
    writer = desk.writer()
    writer.prompt("Look at https://www.figma.com/file/aB3dE5gH7jK9mN1pQ2rS4t/Login now.")
    for planted in secrets:
        writer.prompt(f"I use this:\n{planted.text}\nin the deployment of the shop")
    writer.edit("src/queue.py")
    writer.say("badge 4711 is in use.")
    told = writer.end()
    async with desk.app(redact_patterns=[r"badge \d+"]) as app:
        await desk.finish(app, told)
    text = desk.note()
    assert "aB3dE5gH7jK9mN1pQ2rS4t" not in text
    assert "badge 4711" not in text
    for planted in secrets:
        assert not any(secret in text for secret in planted.secrets)


COMMAND = f"{sys.executable} -c \"print('# By it\\\\n## Goal\\\\nG\\\\n## Outcome\\\\nO')\""


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "journal.command fails or prints no journal",
    "the journal is the dialogue, incomplete, and is tried again",
)
@pytest.mark.parametrize(
    ("command", "state", "title"),
    [
        (COMMAND, "complete", "By it"),
        ("/nowhere/none", "incomplete", "Limit the retries of the queue in src/queue.py."),
        (f"{sys.executable} -c pass", "incomplete", "Limit the retries of the queue"),
    ],
)
async def test_a_command_writes_the_journal(desk: Desk, command: str, state: str, title: str):
    async with desk.app(command=command) as app:
        told = desk.work()
        await desk.finish(app, told, state)
    assert f"# {title}" in desk.note()


@pytest.mark.parametrize(
    ("settings", "reason"), [({"ask": True}, "asked"), ({"exclude": ["."]}, "excluded")]
)
async def test_no_journal_is_written_unasked_where_none_is_wanted(
    desk: Desk, settings: dict[str, Any], reason: str
):
    async with desk.app(**settings) as app:
        told = desk.work()
        session = await desk.finish(app, told, "skipped")
        assert session.journal.reason == reason
        assert desk.notes() == []
        following = desk.event(desk.writer("9e1f3c6e-1111").end(), "start", time.time() + 5)
        offer = await app.sessions.take(following)
        await offer.settle(True)
        assert ("journal make" in (offer.brought.message or "")) is (reason == "asked")
        wanted = show_journal(await app.journals.make(session), app)
        assert (wanted.state, wanted.reason) == ("pending", None)
        app.sessions.wake()
        await desk.state(app, told)
    assert "no, after 3" in desk.note()


async def test_one_journal_that_fails_stops_no_other(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    first, second = desk.work(), desk.work("6c1f3c6e-1111-4222-8333-444455556666")
    whole = journals_module.dialogue

    def fails(collected: Any) -> Any:
        if collected.session_id == first.session_id:
            raise IndexError
        return whole(collected)

    monkeypatch.setattr(journals_module, "dialogue", fails)
    async with desk.app() as app:
        await desk.tell(app, first)
        await desk.finish(app, second)
        session = await desk.state(app, first, "failed")
        assert session.journal.reason == "INTERNAL_ERROR"
    assert second.session_id in desk.note()


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the server dies while it writes a journal",
    "the next server writes it, once, and knows it as its own",
)
async def test_a_journal_is_known_as_ours_after_a_crash(desk: Desk):
    told = desk.work()
    async with desk.app() as app:
        await desk.finish(app, told)
        session = await app.journals.store.get(told.session_id)
        assert session is not None
    [file] = (desk.world.data / "sessions").glob("*.jsonl")
    lines = [line for line in file.read_text().splitlines() if '"event": "journal"' in line]
    assert len(lines) == 2  # what is about to be written, and that it was
    file.write_text(file.read_text().replace(f"{lines[1]}\n", ""))
    async with desk.app() as app:
        await desk.state(app, told)
    assert len(desk.notes()) == 1
    assert json.loads(lines[1])["hashes"] == json.loads(lines[0])["hashes"]
