"""Runs that a watch starts: the end equals a fresh index."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.indexing.test_paths import Editor, fresh_state, state
from tests.support.index_runs import Vault


@pytest.fixture
async def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    for number in range(10):
        made.write(f"{number}.md", f"# Note {number}\n\n[[{number + 1}]]\n")
    made.write("folder/Rye.md", "[[Starter]]\n")
    made.write("Starter.md", "flour\n")
    await made.index()
    return made


@pytest.mark.fault(
    "Watching",
    "a folder is moved, and moved back",
    "renames",
)
async def test_a_moved_folder_is_renames_and_moves_back(vault: Vault):
    folder, moved = vault.root / "folder", vault.root / "moved"
    folder.rename(moved)
    run = await vault.run(paths=("folder", "moved"), by_watch=True)
    assert run.summary.renamed == 1
    moved.rename(folder)
    run = await vault.run(paths=("folder", "moved"), by_watch=True)
    assert run.summary.renamed == 1
    assert await state(vault) == await fresh_state(vault)


@pytest.mark.fault(
    "Watching",
    "an unreadable note in a watched vault",
    "scans do not publish again and again for it",
)
async def test_an_unreadable_note_does_not_make_every_scan_publish(vault: Vault):
    vault.write("3.md", "changed")
    vault.unreadable.add("3.md")
    await vault.run(by_watch=True)
    run = await vault.run(by_watch=True)
    assert (vault.heard.publications, run.summary.changed) == (0, 0)
    vault.unreadable.clear()
    await vault.run()  # someone asks for it
    assert await state(vault) == await fresh_state(vault)


async def check_watched_edits(vault: Vault, *, seed: int, rounds: int, polls: bool) -> None:
    """Make random edits, run as a watch would, and compare with a fresh index at the end."""
    chance, editor = random.Random(seed), Editor(vault, seed)
    waiting: list[str] = []
    for _ in range(rounds):
        editor.touched = []
        for _ in range(chance.randint(1, 3)):
            editor.edit()
        vault.unreadable.clear()
        waiting += filter(None, editor.touched)
        if polls or chance.random() < 0.05:
            await vault.run(by_watch=True)
        elif chance.random() < 0.6:  # a run takes what has come during the last one
            await vault.run(paths=tuple(waiting), by_watch=True)
            waiting.clear()
    await vault.run(paths=None if polls else tuple(waiting), by_watch=True)
    assert await state(vault) == await fresh_state(vault)


@pytest.mark.parametrize("polls", [False, True], ids=["events", "scans"])
async def test_a_watched_index_equals_a_fresh_one(vault: Vault, polls: bool):
    await check_watched_edits(vault, seed=5, rounds=25, polls=polls)


@pytest.mark.long
@pytest.mark.parametrize("polls", [False, True], ids=["events", "scans"])
@pytest.mark.parametrize("seed", range(5))
async def test_a_watched_index_equals_a_fresh_one_after_thousands_of_edits(
    vault: Vault, seed: int, polls: bool
):
    await check_watched_edits(vault, seed=seed, rounds=500, polls=polls)
