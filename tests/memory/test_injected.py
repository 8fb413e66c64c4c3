"""What sessions of agents get of the notes, and what is logged about that."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import time
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.registered_vaults import RegisteredVaults, indexed
from tests.support.waiting import eventually_async

from vault_agent.api.caller import OWNER
from vault_agent.api.context import CallContext
from vault_agent.api.deliveries import MEMORY_SESSIONS, MemorySessionsRequest
from vault_agent.api.operation import perform
from vault_agent.config.registry import Role, add_vault, forget_vault
from vault_agent.config.rules import vault_identity
from vault_agent.errors import NotFound
from vault_agent.markdown.template import fill, variables, with_known
from vault_agent.memory import facts as facts_module
from vault_agent.memory.preamble import tokens_of
from vault_agent.model.deliveries import MemoryNews
from vault_agent.model.identifiers import identify
from vault_agent.model.jobs import JobKind
from vault_agent.model.journals import Journal
from vault_agent.model.memory import RecallQuery
from vault_agent.model.sessions import Delivered, Session, SessionEvent
from vault_agent.store.sessions.deliveries import place
from vault_agent.system.checkout import commit_at
from vault_agent.vaults.known import KnownVaults
from vault_agent.writing.built_in import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from vault_agent.app import App
    from vault_agent.memory.injected import Deliveries

TODAY = "2026-02-14T10:00:00Z"
PROMPT = "streaming cost updates in the tracker of the canary"


def note(title: str, text: str, **fields: str) -> str:
    """Return a note with frontmatter."""
    lines = "".join(f"{name}: {value}\n" for name, value in {"updated": TODAY, **fields}.items())
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


def commit(project: Path, file: str, *, branch: str) -> None:
    """Make a repository with one commit of one file."""
    (project / file).parent.mkdir(exist_ok=True)
    (project / file).write_text("pass\n")
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q", "-b", branch), ("add", file), (*person, "commit", "-qm", "x")):
        subprocess.run(("git", *command), cwd=project, check=True, capture_output=True)


class Agent:
    """A session of an agent in a project."""

    def __init__(self, deliveries: Deliveries, vault: str, session_id: str = "s1") -> None:
        self.deliveries = deliveries
        self.vault = vault
        self.id = session_id

    async def does(self, event: str, *, given: bool = True, **more: Any) -> Delivered:
        session = Session(
            self.id,
            "claude-code",
            self.vault,
            1.0,
            2.0,
            None,
            "open",
            0,
            *(None, None, "/", *[None] * 3),
        )
        happened = SessionEvent("claude-code", event, event, self.id, "/", 2.0, self.vault, **more)
        offer = await self.deliveries.deliver(session, happened)
        await offer.settle(given)
        return offer.brought

    async def starts(self, source: str = "startup") -> str:
        return (await self.does("start", source=source)).text or ""

    async def prompts(self, prompt: str = PROMPT) -> str:
        return (await self.does("prompt", prompt=prompt)).text or ""


@pytest.fixture
def world(tmp_path: Path) -> RegisteredVaults:
    world = RegisteredVaults(tmp_path)
    world.shop = world.project("shop", SHOP)
    return world


@asynccontextmanager
async def opened(world: RegisteredVaults, **memory: Any) -> AsyncIterator[tuple[App, Agent]]:
    """Open the vaults, and yield them with an agent's session."""
    sections = {"journal": memory.pop("journal")} if "journal" in memory else {}
    async with world.app(memory={"enabled": True, **memory}, **sections) as app:
        identity = vault_identity(world.shop)
        async with app.vaults.open(identity) as vault:
            await indexed(vault)
        assert app.deliveries is not None
        yield app, Agent(app.deliveries, identity)


async def test_a_start_brings_the_last_session_and_a_first_prompt_what_it_is_about(
    world: RegisteredVaults,
):
    async with opened(world) as (app, agent):
        start = await agent.starts()
        assert '"Parsing"' in start
        assert '"Last session"' in start
        assert tokens_of(start) <= 500
        prompt = await agent.prompts()
        assert '"Tracker"' in prompt
        assert '"Costs"' in prompt
        assert "Never" not in prompt
        assert '"Parsing"' not in prompt
        assert tokens_of(start) + tokens_of(prompt) <= 1_000
        assert await agent.prompts() == ""
        details = await agent.deliveries.details("s1")
        assert [each.event for each in details.deliveries] == ["start", "prompt", "prompt"]
        first, second, third = details.deliveries
        assert (third.notes, third.text) == ((), "")
        assert (first.text, second.text) == (start, prompt)
        assert first.signals.files == ("src/parser.py",)
        assert second.signals.prompt
        assert {each.left_out for each in second.left_out} == {"relevance"}
        assert set(details.changed.values()) == {False}
        del app


async def test_a_start_names_the_latest_journals_if_something_is_open_in_them(
    world: RegisteredVaults,
):
    left = note("Left", "## Key Decisions\n\n- None\n\n## Open Questions\n\n- Why?", type="journal")
    failed = note(
        "Failed",
        "## Problems Encountered\n\n- `go` — bad `a_b` (open)\n- `ls` (resolved)",
        type="journal",
    )
    done = note("Done", "## Outcome\n\nAll is well.", type="journal")
    world.write(world.shop, {"journals/left.md": left, "journals/failed.md": failed})
    world.write(world.shop, {"journals/old.md": done.replace("2026-02", "2025-02")})
    (world.shop / "journals/last.md").unlink()
    async with opened(world) as (_, agent):
        start = await agent.starts()
        assert '"Left" (journals/left.md, 2026-02-14): None' in start
        assert '"Failed" (journals/failed.md, 2026-02-14): `go` — bad `a_b` (open)' in start
        assert "Done" not in start


async def test_the_tokens_of_a_session_are_limited(world: RegisteredVaults):
    async with opened(world, max_tokens=100) as (_, agent):
        texts = [await agent.starts(), *[await agent.prompts() for _ in range(5)]]
        assert 0 < sum(map(tokens_of, texts)) <= 100


async def test_nothing_comes_at_a_resume_or_without_auto_inject(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        assert await agent.does("start", source="resume") == Delivered()
    async with opened(world, auto_inject=False) as (_, agent):
        assert await agent.does("start", source="startup") == Delivered()
        assert await agent.does("prompt", prompt=PROMPT) == Delivered()
        with pytest.raises(NotFound):
            await agent.deliveries.details("s1")


async def test_a_prompt_without_a_subject_does_not_count_as_the_first(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        assert await agent.prompts("continue") == ""
        assert '"Tracker"' in await agent.prompts()


async def test_a_prompt_about_other_things_does_not_count_as_the_first(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        assert await agent.prompts("which soup tastes best in a cold winter evening") == ""
        assert '"Tracker"' in await agent.prompts()


async def test_a_note_comes_again_after_a_compaction(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        first = await agent.starts(), await agent.prompts()
        assert await agent.starts("compact") == first[0]
        assert await agent.does("compact") == Delivered()  # tells of the same compaction
        assert await agent.prompts() == first[1]


async def test_each_prompt_gets_notes_that_the_session_did_not_have(world: RegisteredVaults):
    async with opened(world, max_notes=1) as (_, agent):
        first, second = await agent.prompts(), await agent.prompts()
        assert {'"Tracker"' in first, '"Costs"' in first} == {True, False}
        assert {'"Tracker"' in second, '"Costs"' in second} == {True, False}
        assert first != second


async def test_the_person_is_told_which_notes_if_wanted(world: RegisteredVaults):
    async with opened(world, show=True) as (_, agent):
        found = await agent.does("start", source="startup")
        assert found is not None
        assert found.message is not None
        assert '"Parsing"' in found.message


async def test_a_note_that_was_put_first_comes_first_whatever_it_is_about(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        await agent.starts()
        await agent.prompts()
        parsing = identify("decisions/parsing.md")
        await agent.deliveries.put_first("s1", "project:shop", parsing)
        text = await agent.prompts("thanks")
        assert text.count('"Parsing"') == 1
        assert await agent.prompts("thanks") == ""


async def test_a_note_that_was_taken_out_is_withdrawn_once_and_never_comes_again(
    world: RegisteredVaults,
):
    async with opened(world) as (_, agent):
        await agent.starts()
        await agent.prompts()
        tracker = identify("notes/tracker.md")
        await agent.deliveries.take_out("s1", "project:shop", tracker)
        told = await agent.prompts("thanks")
        assert told == '[Vault Memory] The user has taken out: "Tracker". Do not rely on this.'
        assert await agent.prompts("thanks") == ""
        await agent.starts("clear")
        assert '"Tracker"' not in await agent.prompts()
        removed = (await agent.deliveries.details("s1")).having.removed
        assert removed == {("project:shop", tracker): "removed"}


async def test_a_refresh_brings_what_changed_at_the_next_event(world: RegisteredVaults):
    async with opened(world) as (app, agent):
        await agent.starts()
        text = note(
            "Parsing", "## Decision\n\nThe parser takes a grammar.", files="[src/parser.py]"
        )
        world.write(world.shop, {"decisions/parsing.md": text})
        async with app.vaults.open(agent.vault) as vault:
            await vault.submit(JobKind.INDEX)
            await indexed(vault)
        shown = await agent.deliveries.refresh("s1", apply=False)
        assert "takes a grammar" in shown.recalled.text
        assert {note.title: changed for note, changed in shown.before} == {
            "Parsing": True,
            "Last session": False,
        }
        assert {note.title for note, _ in shown.after} == {"Parsing", "Last session"}
        assert await agent.prompts("thanks") == ""
        await agent.deliveries.refresh("s1", apply=True)
        assert "takes a grammar" in await agent.prompts("thanks")
        assert await agent.prompts("thanks") == ""


async def test_notes_of_other_projects_never_come_and_cannot_be_put_first(world: RegisteredVaults):
    other = world.project(
        "other", {"notes/x.md": note("Other", f"{PROMPT} secret", files="[src/parser.py]")}
    )
    world.registered(Role.GLOBAL, "global", {"patterns/sum.md": note("Sum", f"Sums: {PROMPT}.")})
    async with opened(world) as (app, agent):
        async with (
            app.vaults.open(vault_identity(other)) as vault,
            app.vaults.open("global") as shared,
        ):
            await indexed(vault)
            await indexed(shared)
        texts = await agent.starts() + await agent.prompts()
        assert "Other" not in texts
        assert '"Sum" (global:patterns/sum.md' in texts
        with pytest.raises(NotFound) as refused:
            await agent.deliveries.put_first("s1", "project:other", identify("notes/x.md"))
        assert refused.value.code == "NOTE_NOT_FOUND"


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "canaries in prompts",
    "not in `sessions.db`, no log, no error",
)
async def test_what_is_asked_for_in_a_session_is_logged_without_the_prompt(world: RegisteredVaults):
    async with opened(world) as (app, agent):
        async with app.vaults.open(agent.vault) as vault:
            seen = vault.events.last_id
            found = await agent.deliveries.recall(
                vault, RecallQuery(PROMPT), session_id="s2", agent="codex"
            )
            async for news in vault.events.follow(seen):
                if isinstance(news.item, MemoryNews):  # not of the look at its notes
                    break
        assert (news.item.session_id, news.item.event) == ("s2", "manual")
        [session] = await agent.deliveries.store.sessions(limit=5)
        assert (session.session_id, session.agent, session.notes) == (
            "s2",
            "codex",
            len(found.notes),
        )
        assert await agent.deliveries.forget("s2") == ["s2"]
        with pytest.raises(NotFound):
            await agent.deliveries.details("s2")
    whole = (world.data / "sessions.db").read_bytes()
    assert b"canary" not in whole


async def test_the_journal_of_the_session_itself_is_left_out(world: RegisteredVaults):
    own = note(
        "Own", "## Outcome\n\nThe parser.", type="journal", session="s1", files="[src/parser.py]"
    )
    world.write(world.shop, {"journals/own.md": own})
    async with opened(world) as (_, agent):
        assert '"Own"' not in await agent.starts()
        assert '"Own"' in await Agent(agent.deliveries, agent.vault, "s3").starts()


async def test_sessions_are_listed_newest_first_page_by_page(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        for number in range(5):
            await Agent(agent.deliveries, agent.vault, f"n{number}").starts()
        first = await agent.deliveries.store.sessions(limit=3)
        rest = await agent.deliveries.store.sessions(limit=3, before=place(first[-1]))
        ids = [each.session_id for each in (*first, *rest)]
        assert sorted(ids, reverse=True) == [f"n{number}" for number in (4, 3, 2, 1, 0)]
        assert len(ids) == 5
        assert await agent.deliveries.store.sessions(limit=3, vaults=["other"]) == ()


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "`sessions.db` is damaged",
    "set aside; a new one",
)
async def test_a_damaged_record_is_set_aside(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        await agent.starts()
    (world.data / "sessions.db").write_bytes(b"no database" * 100)
    async with opened(world) as (_, agent):
        assert await agent.starts()
    with closing(sqlite3.connect(world.data / "sessions.db")) as connection:
        assert connection.execute("SELECT count(*) FROM delivery").fetchone() == (1,)


async def test_a_start_looks_at_the_last_commit_and_at_the_branch(world: RegisteredVaults):
    commit(world.shop.parent.parent, "src/parser.py", branch="streaming-cost-tracker-updates")
    (world.shop / "journals" / "last.md").unlink()
    async with opened(world) as (_, agent):
        start = await agent.starts()
        assert '"Parsing"' in start
        assert '"Tracker"' in start
        [delivery] = (await agent.deliveries.details("s1")).deliveries
        assert delivery.signals.files == ("src/parser.py",)
        assert delivery.signals.branch == "streaming-cost-tracker-updates"
        assert not delivery.signals.prompt


async def without_leaks(world: RegisteredVaults, deliveries: int) -> None:
    """Deliver to sessions of two projects with notes of the same names, files and words."""
    chosen = random.Random(deliveries)
    vocabulary = [f"{a}{b}" for a in ("par", "con", "tel", "mor") for b in ("tic", "nal", "ver")]
    files = [f"src/part{number}.py" for number in range(6)]
    roots = {}
    for canary in ("canaryalpha", "canarybeta"):
        notes = {
            f"notes/{number}.md": note(
                f"About {number}",
                " ".join((canary, *chosen.choices(vocabulary, k=30))),
                files=f"[{chosen.choice(files)}]",
            )
            for number in range(20)
        }
        roots[canary] = vault_identity(world.project(canary, notes))
    got = 0
    async with opened(world) as (app, agent):
        for identity in roots.values():
            async with app.vaults.open(identity) as vault:
                await indexed(vault)
        for number in range(deliveries // 2):
            canary, other = chosen.sample(sorted(roots), 2)
            each = Agent(agent.deliveries, roots[canary], f"session{number}")
            prompt = f"{' '.join(chosen.sample(vocabulary, 4))} {chosen.choice(files)} {other}"
            texts = (await each.starts(), await each.prompts(prompt))
            for text in texts:
                assert other not in text
                got += canary in text
    assert got >= deliveries // 3


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "another project with the same names, files and words",
    "none of its text is delivered; its notes cannot be put first",
)
async def test_no_text_of_another_project_is_delivered(world: RegisteredVaults):
    await without_leaks(world, 20)


@pytest.mark.long
async def test_no_text_of_another_project_is_in_ten_thousand_deliveries(world: RegisteredVaults):
    await without_leaks(world, 10_000)


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the clock is set back between events of a session; dates in the future",
    "the order stays; a note comes once; no negative age",
)
async def test_a_clock_that_was_set_back_confuses_nothing(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        agent.deliveries._now = lambda: 2_000_000.0
        start = await agent.starts()
        agent.deliveries._now = lambda: 1_000_000.0
        assert '"Tracker"' in await agent.prompts()
        assert await agent.prompts() == ""
        await agent.deliveries.put_first("s1", "project:shop", identify("decisions/parsing.md"))
        assert '"Parsing"' in await agent.prompts("thanks")
        assert await agent.prompts("thanks") == ""
        assert await agent.starts("clear") == start


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "the project's vault is gone or forgotten",
    "the log stays readable; `changed` is null; nothing is delivered",
)
async def test_a_note_whose_vault_is_gone_is_neither_changed_nor_the_same(world: RegisteredVaults):
    async with opened(world) as (_, agent):
        await agent.starts()
        forget_vault("shop", world.registry)
        found = await agent.deliveries.details("s1")
        assert set(found.changed.values()) == {None}
        with pytest.raises(NotFound):
            await agent.starts()


async def test_a_listed_session_says_where_its_journal_is(world: RegisteredVaults):
    async with opened(world, journal={"enabled": True}) as (app, agent):
        await agent.starts()
        assert app.journals is not None
        made = ("s1", "claude-code", agent.vault, "complete", None, "Made", "journals/last.md")
        async with app.sessions.store.turn("s1") as turn:
            await turn.put(
                Journal(*made, *(None, None, None), 1.0, 2.0, 1.0, attempts=1, next_at=None)
            )
        listed = await perform(
            MEMORY_SESSIONS, CallContext(app, app.vaults.default, OWNER), MemorySessionsRequest()
        )
        [row] = listed.reply.data.sessions
        assert (row.project, row.vault, row.title) == ("shop", "project:shop", "Made")
        assert row.journal.note_id == identify("journals/last.md")
        none = MemorySessionsRequest(project="other")
        found = await perform(MEMORY_SESSIONS, CallContext(app, app.vaults.default, OWNER), none)
        assert not found.reply.data.sessions


async def test_what_an_agent_was_not_given_is_not_logged_and_comes_again(world: RegisteredVaults):
    async with opened(world) as (app, agent):
        await agent.starts()
        store = app.deliveries.store
        before = await store.of_session("s1")
        lost = await agent.does("prompt", given=False, prompt=PROMPT)
        assert lost.text
        assert await store.of_session("s1") == before
        assert await agent.prompts() == lost.text
        assert len(await store.of_session("s1")) == len(before) + 1
        assert await agent.prompts(f"{PROMPT} again") == ""


@pytest.mark.parametrize("seconds", [0.0, None])
async def test_a_slow_log_is_finished_after_the_time_of_the_agent(
    world: RegisteredVaults, seconds: float | None
):
    """What is chosen in time is logged whole. What is not chosen in time is not logged."""
    async with opened(world) as (app, agent):
        assert app.sessions is not None
        await eventually_async(lambda: app.sessions.leads)
        await agent.starts()
        store = app.deliveries.store
        before = await store.of_session("s1")
        event = SessionEvent(
            "claude-code", "prompt", "prompt", "s1", "/", time.time(), agent.vault, prompt=PROMPT
        )
        offer = await app.sessions.take(event, seconds=seconds)
        settling = asyncio.create_task(offer.settle(True))
        await asyncio.sleep(0)
        settling.cancel()  # the server ends the request
        with suppress(asyncio.CancelledError):
            await settling
        logged = len(await store.of_session("s1")) - len(before)
        assert (bool(offer.brought.text), logged) == ((False, 0) if seconds == 0 else (True, 1))


async def test_notes_that_git_brings_are_given_once_they_are_allowed(world: RegisteredVaults):
    """A branch of somebody else is one checkout away from the prompts of an agent."""
    project = world.shop.parent.parent
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")

    def run(*command: str, at: Path = project) -> None:
        subprocess.run((*git, *command), cwd=at, check=True, capture_output=True)

    def allow() -> None:
        entry = KnownVaults(world.registry).find("project:shop")
        add_vault(replace(entry, commit=commit_at(project) or ""), world.registry)

    run("init", "-q", "-b", "main")
    run("add", "-A")
    run("commit", "-qm", "mine")
    allow()
    other = world.folder / "other"
    run("clone", "-q", str(project), str(other))
    brought = note("Canary", "The streaming cost tracker updates the canary.")
    (other / ".vault-agent/vault/notes/canary.md").write_text(brought)
    for command in (("checkout", "-qb", "pr"), ("add", "-A"), ("commit", "-qm", "theirs")):
        run(*command, at=other)
    run("fetch", "-q", str(other), "pr:pr")
    run("checkout", "-q", "pr")
    async with opened(world) as (app, agent):
        start = await agent.does("start", source="startup")
        assert "1 new note came by git" in (start.message or "")
        assert "vault-agent trust" in (start.message or "")
        assert "Canary" not in await agent.prompts()
        async with app.vaults.open(agent.vault) as vault:
            found = await app.memory.recall(vault, RecallQuery(prompt=PROMPT))
        assert "NOTES_NOT_ALLOWED" in [each.code for each in found.warnings]
        allow()
        again = Agent(app.deliveries, agent.vault, "s2")
        assert "new note" not in ((await again.does("start", source="startup")).message or "")
        assert "Canary" in await again.prompts()


@pytest.mark.parametrize("name", sorted(BUILT_IN))
async def test_a_template_that_nobody_has_filled_in_is_never_given(tmp_path: Path, name: str):
    world = RegisteredVaults(tmp_path)
    template = with_known(BUILT_IN[name])
    given = dict.fromkeys(variables(template), "x")
    text = fill(template, title="Cost tracker", now=datetime.now(UTC), values=given)
    head, _, body = text.partition("---\n")[2].partition("---\n")
    kept = "".join(line for line in head.splitlines(True) if not line.startswith("files:"))
    front = f"---\n{kept}files: [src/cost.py]\n---\n"
    filled = body + "\n## More\n\nThe tracker sums the costs of each model.\n"
    world.shop = world.project("shop", {"a.md": front + body, "b.md": front + filled})
    async with opened(world) as (app, agent), app.vaults.open(agent.vault) as vault:
        asked = RecallQuery(files=("src/cost.py",), explain=True)
        found = await app.memory.recall(vault, asked)
        assert [each.path for each in found.notes] == ["b.md"]
        assert [(each.path, each.left_out) for each in found.left_out] == [("a.md", "empty")]
        assert "sums the costs" in found.text


async def test_a_journal_with_nothing_but_its_goal_is_not_given(tmp_path: Path):
    world = RegisteredVaults(tmp_path)
    goal = "debounce the updates in CostPanel.tsx"
    front = {"files": "[src/cost.py]", "type": "journal"}
    empty = note(goal, f"## Goal\n\n{goal}", **front)
    decided = "## Key Decisions\n\n- Wait 50 ms.\n\n## Outcome\n\nDone.\n\n- Tests: 12 passed\n"
    world.shop = world.project(
        "shop", {"a.md": empty, "b.md": note("Panel", f"## Goal\n\n{goal}\n\n{decided}", **front)}
    )
    async with opened(world) as (app, agent), app.vaults.open(agent.vault) as vault:
        found = await app.memory.recall(vault, RecallQuery(files=("src/cost.py",)))
        assert [each.path for each in found.notes] == ["b.md"]
        assert "  Key decisions:\n  - Wait 50 ms.\n  Outcome: Done.\n" in found.text
        assert "12 passed" not in found.text


async def test_what_was_written_by_hand_is_given_without_being_asked_to_index(
    world: RegisteredVaults, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(facts_module, "_LOOK_SECONDS", 0.0)
    async with opened(world) as (app, agent), app.vaults.open(agent.vault) as vault:
        hand = note("Canary", "Streaming cost updates of the canary in the tracker.")
        (world.shop / "notes/hand.md").write_text(hand)
        (world.shop / "notes/costs.md").unlink()
        asked = RecallQuery(prompt=PROMPT)

        async def paths() -> list[str]:
            return [each.path for each in (await app.memory.recall(vault, asked)).notes]

        found = await eventually_async(paths, lambda each: "notes/hand.md" in each)
        assert "notes/costs.md" not in found
        numbers = iter(range(100))

        async def prompted() -> str:
            other = Agent(app.deliveries, agent.vault, f"of-hand-{next(numbers)}")
            return await other.prompts()

        late = note("Late canary", f"{PROMPT}: the late one sums costs of each hour instead.")
        (world.shop / "notes/late.md").write_text(late)
        await eventually_async(prompted, lambda text: "Late canary" in text)


async def test_secrets_of_notes_are_not_given(tmp_path: Path):
    """A person may have written them into a note."""
    token = "glpat-" + "a1B2c3D4e5F6g7H8i9J0"
    title = f"Tracker costs {token}"
    text = f"{PROMPT}: the tracker of streaming costs sends its updates with {token} now."
    world = RegisteredVaults(tmp_path)
    world.shop = world.project("shop", {**SHOP, "notes/token.md": note(title, text)})
    async with opened(world) as (app, agent):
        prompted = await agent.prompts()
        assert "[redacted" in prompted
        async with app.vaults.open(agent.vault) as vault:
            found = await app.memory.recall(vault, RecallQuery(prompt=PROMPT))
        assert any(each.path == "notes/token.md" for each in found.notes)
        for given in (prompted, found.text):
            assert token not in given
