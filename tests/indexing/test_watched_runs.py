"""Runs that a watch starts: missing notes stay for a while, and the end equals a fresh index."""

from __future__ import annotations

import random
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.indexing.test_paths import Editor, fresh_state, state
from tests.support.index_runs import Vault

from vault_agent.errors import Misconfigured
from vault_agent.freshness.debounce import Debounce
from vault_agent.indexing import changes
from vault_agent.indexing import index as running
from vault_agent.indexing.compare import compare
from vault_agent.indexing.index import index
from vault_agent.model.identifiers import identify
from vault_agent.vault.watch import folder_at

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.indexing.parse import FileTask, ParsedFile


@pytest.fixture
async def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    for number in range(10):
        made.write(f"{number}.md", f"# Note {number}\n\n[[{number + 1}]]\n")
    made.write("folder/Rye.md", "[[Starter]]\n")
    made.write("Starter.md", "flour\n")
    await made.index()
    return made


async def paths_of(vault: Vault) -> set[str]:
    return {path for path in await vault.dump() if path.endswith(".md")}


async def test_a_missing_note_stays_until_it_may_be_removed(vault: Vault):
    (vault.root / "3.md").unlink()
    run = await vault.run(paths=("3.md",), removable=())
    assert run.missing == ("3.md",)
    assert vault.heard.publications == 0  # nothing has changed yet
    assert "3.md" in await paths_of(vault)
    run = await vault.run(paths=("3.md",), removable=("3.md",))
    assert (run.missing, run.summary.removed, run.note_ids) == ((), 1, (identify("3.md"),))
    assert "3.md" not in await paths_of(vault)


async def test_a_missing_note_that_is_back_is_only_changed(vault: Vault):
    (vault.root / "3.md").unlink()
    await vault.run(paths=("3.md",), removable=())
    vault.write("3.md", "# Other text\n")
    run = await vault.run(paths=("3.md",), removable=("3.md",))
    assert (run.missing, run.summary.changed, run.summary.removed) == ((), 1, 0)


async def test_a_note_renamed_within_its_grace_is_one_note(vault: Vault):
    (vault.root / "3.md").rename(vault.root / "folder" / "Three.md")
    run = await vault.run(paths=("3.md",), removable=())
    assert run.missing == ("3.md",)
    run = await vault.run(paths=("folder/Three.md", "3.md"), removable=())
    assert (run.summary.renamed, run.summary.added, run.summary.removed) == (1, 0, 0)
    assert run.missing == ()
    assert await state(vault) == await fresh_state(vault)


@pytest.mark.parametrize("old", ["caf\u00e9.md", "starter.md"])
async def test_another_spelling_of_a_name_is_a_rename(vault: Vault, old: str):
    vault.write(old, "one of a kind\n")
    await vault.index()
    new = unicodedata.normalize("NFD", old) if not old.isascii() else "sTARTER.md"
    (vault.root / old).rename(vault.root / new)
    run = await vault.run(paths=(new, old), removable=())
    assert (run.summary.renamed, run.summary.removed, run.missing) == (1, 0, ())
    assert new in await paths_of(vault)
    assert old not in await paths_of(vault)


@pytest.mark.fault(
    "Watching",
    "a folder is moved, and moved back",
    "renames",
)
async def test_a_moved_folder_is_renames_and_moves_back(vault: Vault):
    folder, moved = vault.root / "folder", vault.root / "moved"
    folder.rename(moved)
    run = await vault.run(paths=("folder", "moved"), removable=())
    assert (run.summary.renamed, run.missing) == (1, ())
    moved.rename(folder)
    run = await vault.run(paths=("folder", "moved"), removable=())
    assert (run.summary.renamed, run.missing) == (1, ())
    assert await state(vault) == await fresh_state(vault)


async def test_a_look_at_everything_keeps_missing_notes_too(vault: Vault):
    (vault.root / "3.md").unlink()
    (vault.root / "4.md").write_text("changed")
    run = await vault.run(removable=())
    assert (run.missing, run.summary.changed, run.summary.removed) == (("3.md",), 1, 0)
    assert run.summary.unchanged == 10
    assert await paths_of(vault) == {*(f"{n}.md" for n in range(10)), "folder/Rye.md", "Starter.md"}


async def test_many_missing_notes_are_only_counted(vault: Vault, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running, "MAX_MISSING", 2)
    for number in range(5):
        (vault.root / f"{number}.md").unlink()
    run = await vault.run(removable=())
    assert (run.missing, run.more_missing) == (("0.md", "1.md"), True)


@pytest.mark.fault(
    "Watching",
    "a note disappears between the walk and the read",
    "it stays for its grace",
)
async def test_a_note_that_vanishes_while_it_is_read_stays(vault: Vault):
    vault.write("3.md", "about to be replaced")
    with vault.parsing() as read:

        async def parse(batch: list[FileTask]) -> list[ParsedFile]:
            (vault.root / "3.md").unlink()  # a program that unlinks and writes
            return read(batch)

        run = await index(vault.task(paths=("3.md",), removable=()), parse, vault.heard)
    assert run.missing == ("3.md",)
    assert "3.md" in await paths_of(vault)


async def test_a_run_in_another_folder_than_the_watched_one_is_refused(vault: Vault):
    watched = folder_at(str(vault.root))
    with vault.parsing() as read:

        async def parse(batch: list[FileTask]) -> list[ParsedFile]:
            return read(batch)

        vault.root.rename(vault.root.with_name("unmounted"))
        vault.write("Other.md", "another vault")
        with pytest.raises(Misconfigured, match="VAULT_NOT_FOUND"):
            await index(replace(vault.task(), folder=watched), parse, vault.heard)
    assert len(await paths_of(vault)) == 12


@pytest.mark.fault(
    "Watching",
    "an unreadable note in a watched vault",
    "scans do not publish again and again for it",
)
async def test_an_unreadable_note_does_not_make_every_scan_publish(vault: Vault):
    vault.write("3.md", "changed")
    vault.unreadable.add("3.md")
    await vault.run(removable=())
    run = await vault.run(removable=())
    assert (vault.heard.publications, run.summary.changed) == (0, 0)
    vault.unreadable.clear()
    await vault.run()  # someone asks for it
    assert await state(vault) == await fresh_state(vault)


async def test_another_folder_is_the_vault_if_it_has_most_of_its_notes(vault: Vault):
    assert compare(vault.task()).same_vault
    for number in range(5):
        (vault.root / f"{number}.md").unlink()
    assert compare(vault.task()).same_vault
    for number in range(5, 10):
        (vault.root / f"{number}.md").unlink()
    assert not compare(vault.task()).same_vault


async def check_watched_edits(vault: Vault, *, seed: int, rounds: int, polls: bool) -> None:
    """Make random edits, run as a watch would, and compare with a fresh index at the end."""
    waiting = Debounce(quiet=0.15, longest=1.0, grace=2.0)
    chance, editor, now = random.Random(seed), Editor(vault, seed), 0.0

    async def work_off(until: float) -> None:
        nonlocal now
        while (due := waiting.due_at()) is not None and due <= until:
            now = max(now, due)
            batch = waiting.take(now)
            assert batch is not None
            run = await vault.run(paths=batch.paths, removable=batch.removable)
            waiting.finish(run.missing, now, more_missing=run.more_missing)

    for _ in range(rounds):
        editor.touched = []
        for _ in range(chance.randint(1, 3)):
            editor.edit()
        vault.unreadable.clear()
        now += chance.choice((0.05, 0.3, 2.5))
        if polls or chance.random() < 0.05:
            waiting.demand("scan", now)
        else:
            waiting.add([path for path in editor.touched if path], now)
        await work_off(now)
    await work_off(now + 60)
    assert await state(vault) == await fresh_state(vault)


@pytest.fixture
def few_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MANY_REMOVED_SHARE", 1.0)


@pytest.mark.usefixtures("few_notes")
@pytest.mark.parametrize("polls", [False, True], ids=["events", "scans"])
async def test_a_watched_index_equals_a_fresh_one(vault: Vault, polls: bool):
    await check_watched_edits(vault, seed=5, rounds=25, polls=polls)


@pytest.mark.long
@pytest.mark.usefixtures("few_notes")
@pytest.mark.parametrize("polls", [False, True], ids=["events", "scans"])
@pytest.mark.parametrize("seed", range(5))
async def test_a_watched_index_equals_a_fresh_one_after_thousands_of_edits(
    vault: Vault, seed: int, polls: bool
):
    await check_watched_edits(vault, seed=seed, rounds=500, polls=polls)
