"""A run of paths gives the same index as a full run."""

from __future__ import annotations

import json
import os
import random
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from tests.support.index_runs import Vault

from vault_agent.errors import Failed, Misconfigured
from vault_agent.indexing import changes
from vault_agent.model.search import Filters
from vault_agent.search.query import compile_query
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.fulltext.reader import FulltextReader
from vault_agent.store.fulltext.writer import FulltextWriter
from vault_agent.store.index.meta import read_meta
from vault_agent.vault.opening import Descent
from vault_agent.vault.scan import scan

WORDS = ("flour", "water", "salt", "rye", "oven", "crust", "crumb", "starter")
# Without the checksum, which includes the rowid.
NOTE = """
SELECT rowid, handle, path, title, size, mtime_ns, ctime_ns, inode, hash, aliases, metadata,
       chunk_count, attachment_count
FROM note ORDER BY path
"""
OF_NOTE = "SELECT * FROM {table} WHERE key >= ? << 20 AND key < (? + 1) << 20 ORDER BY key"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path, exclude=("private/", "*.tmp.md"))
    made.write("Bread.md", "---\naliases: [Loaf]\n---\n# Bread\n\nFlour, water. See [[Starter]].\n")
    made.write("Starter.md", "# Starter\n\nBack to [[bread]] or [[Loaf]].\n\n![[jar.png]]\n")
    made.write("folder/Rye.md", "Rye needs [[Missing]] and [[Starter]].\n")
    made.write("folder/deep/Oven.md", "Hot.\n")
    for number in range(12):
        made.write(f"more/{number}.md", f"[[{number + 1}]] {WORDS[number % 8]}\n")
    made.write("jar.png", b"\x89PNG")
    return made


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Record for each scan of the vault whether it was a full walk."""
    seen: list[bool] = []

    def watched(root: Any, **options: Any) -> Any:
        seen.append(options.get("paths") is None)
        return scan(root, **options)

    monkeypatch.setattr(changes, "scan", watched)
    return seen


async def state(vault: Vault) -> dict[str, Any]:
    """Return the content of an index by path, without rowids."""
    held: dict[str, Any] = {}
    paths: dict[int, str] = {}
    with vault.reader() as connection:
        meta = read_meta(connection)
        held["totals"] = meta.notes, meta.chunks, meta.links, meta.unresolved_links
        for table in ("attachment", "left_out", "name"):
            held[table] = sorted(map(tuple, connection.execute(f"SELECT * FROM {table}")))
        for rowid, *note in connection.execute(NOTE):
            parts = [
                [
                    (key & 0xFFFFF, *part)
                    for key, *part in connection.execute(
                        OF_NOTE.format(table=table), (rowid, rowid)
                    )
                ]
                for table in ("chunk", "link")
            ]
            paths[rowid] = note[1]
            held[f"note {note[1]}"] = note, parts
    reader = FulltextReader(vault.directory.fulltext(meta.generation))
    held["found"] = sorted(paths[rowid] for rowid in reader.admitted(Filters()))
    for word in WORDS:
        found = reader.candidates(compile_query(word), Filters())
        held[f"notes with {word}"] = sorted(paths[rowid] for rowid in found.body)
        held[f"chunks with {word}"] = sorted(
            (paths[key >> 20], key & 0xFFFFF) for key in found.text
        )
    vault.verify()
    return held


async def fresh_state(vault: Vault) -> dict[str, Any]:
    """Return the content of a fresh index of the vault."""
    kept = vault.directory
    vault.directory = IndexDirectory(kept.path.with_name("fresh"))
    shutil.rmtree(vault.directory.path, ignore_errors=True)
    try:
        await vault.index()
        return await state(vault)
    finally:
        vault.directory = kept


async def leaves_what_a_whole_run_leaves(vault: Vault, *paths: str) -> bool:
    """Run over some paths and return whether the index equals a fresh one."""
    await vault.index(paths=paths)
    assert await state(vault) == await fresh_state(vault)
    return True


async def test_a_run_of_one_path_indexes_only_that_note(vault: Vault, walks: list[bool]):
    await vault.index()
    before = await state(vault)
    vault.write("Bread.md", "# Bread\n\nRye. [[Missing]]\n")
    vault.write("Unseen.md", "not looked at")
    run = await vault.run(paths=("Bread.md",))
    assert (run.generation, run.revision) == (1, 2)
    assert (run.summary.changed, run.summary.added, run.summary.unchanged) == (1, 0, 15)
    assert vault.heard.publications == 1
    assert "note Unseen.md" not in await state(vault)
    assert before != await state(vault)
    assert walks == [True, False]
    assert await leaves_what_a_whole_run_leaves(vault, "Unseen.md")


async def test_a_run_of_an_unchanged_path_writes_nothing(vault: Vault):
    first = await vault.run()
    run = await vault.run(paths=("Bread.md", "folder", "Nothing.md"))
    assert (run.revision, vault.heard.publications) == (1, 0)
    assert run.summary.unchanged == first.summary.added


async def test_without_an_index_or_with_a_rebuild_paths_mean_a_full_run(vault: Vault):
    assert (await vault.index(paths=("Bread.md",))).added == 16
    assert (await vault.index(rebuild=True, paths=("Bread.md",))).added == 16


@pytest.mark.parametrize("everything", ["", "."])
async def test_the_root_path_means_a_full_run(vault: Vault, everything: str):
    await vault.index()
    vault.write("New.md", "new")
    assert (await vault.index(paths=(everything,))).added == 1


async def test_a_folder_path_includes_its_contents(vault: Vault, walks: list[bool]):
    await vault.index()
    vault.write("folder/Rye.md", "changed")
    vault.write("folder/deep/er/New.md", "[[Bread]]")
    vault.write("folder/deep/jar.png", b"")
    (vault.root / "folder/deep/Oven.md").unlink()
    assert await leaves_what_a_whole_run_leaves(vault, "folder/")
    assert False in walks


async def test_a_removed_folder_removes_its_notes(vault: Vault):
    vault.write("folderol/Stays.md", "a name that begins alike")
    vault.write("folder/binary.md", b"\0" * 99)
    await vault.index()
    shutil.rmtree(vault.root / "folder")
    vault.write("folder", "now a file")
    assert await leaves_what_a_whole_run_leaves(vault, "folder")


@pytest.mark.fault(
    "Paths",
    "a run of paths gets a path that is outside the vault, hidden, excluded or malformed",
    "ignored; nothing is read or removed",
)
@pytest.mark.parametrize(
    "path",
    [
        *("private/Secret.md", "x.tmp.md", ".hidden.md", ".obsidian/note.md", "node_modules/r.md"),
        *("../outside.md", "/etc/hosts", "folder/../Secret.md", "folder//Rye.md", "a\0b", "\udcff"),
        *("Bread.md/was.md", "jar.png/was.md"),
    ],
)
async def test_a_path_that_a_walk_does_not_reach_is_ignored(vault: Vault, path: str):
    await vault.index()
    for hidden in ("private/Secret.md", "x.tmp.md", ".hidden.md", ".obsidian/note.md"):
        vault.write(hidden, "kept out")
    vault.write("node_modules/r.md", "kept out")
    (vault.root.parent / "outside.md").write_text("outside")
    before = await state(vault)
    run = await vault.run(paths=(path,))
    assert run.revision == 1
    assert await state(vault) == before
    assert not vault.heard.codes


@pytest.mark.fault(
    "Paths",
    "a changed path is, contains or lies below a symbolic link",
    "passed over; the file is indexed at its own path",
)
async def test_a_note_is_indexed_at_its_own_path_only(vault: Vault, walks: list[bool]):
    (vault.root / "Second name.md").symlink_to("Bread.md")
    (vault.root / "linked").symlink_to("folder")
    await vault.index()
    for path in ("Second name.md", "linked", "linked/deep/Oven.md"):
        assert await leaves_what_a_whole_run_leaves(vault, path)
    assert walks[1] is False
    vault.write("linked/New.md", "through the link")
    assert await leaves_what_a_whole_run_leaves(vault, "folder/New.md", "linked/New.md")


@pytest.mark.parametrize(
    ("old", "new"),
    [("Bread.md", "bREAD.md"), ("Br\u00e9ad.md", unicodedata.normalize("NFD", "Br\u00e9ad.md"))],
)
async def test_a_rename_to_another_spelling_keeps_one_note(
    vault: Vault, walks: list[bool], old: str, new: str
):
    vault.write(old, "the note")
    await vault.index()
    (vault.root / old).rename(vault.root / new)
    summary = await vault.index(paths=(new,))
    assert (summary.renamed, summary.removed, summary.added) == (1, 0, 0)
    assert walks == [True, False]
    assert await state(vault) == await fresh_state(vault)


@pytest.mark.fault(
    "Jobs",
    "a run of paths would remove all, or very many, notes",
    "`VAULT_EMPTY`, or the run looks at everything first",
)
async def test_a_run_of_paths_never_empties_an_index(vault: Vault):
    await vault.index()
    before = await state(vault)
    paths = [path.relative_to(vault.root).as_posix() for path in vault.root.rglob("*.md")]
    for path in paths:
        (vault.root / path).unlink()
    with pytest.raises(Failed, match="VAULT_EMPTY"):
        await vault.index(paths=tuple(paths))
    shutil.rmtree(vault.root)
    with pytest.raises(Misconfigured, match="VAULT_NOT_FOUND"):
        await vault.index(paths=("Bread.md",))
    assert await state(vault) == before


@pytest.mark.parametrize("paths", [None, ("Bread.md",)], ids=["everything", "one path"])
async def test_a_run_in_another_vault_at_the_same_path_changes_nothing(
    vault: Vault, tmp_path: Path, paths: tuple[str, ...] | None
):
    await vault.index()
    before = await state(vault)
    other = tmp_path / "other"
    other.mkdir()
    (other / "Other.md").write_text("another vault")
    vault.identity = vault.spec().identity
    vault.root.rename(tmp_path / "moved")
    vault.root.symlink_to(other)
    with pytest.raises(Misconfigured, match="VAULT_NOT_FOUND"):
        await vault.index(paths=paths)
    assert await state(vault) == before


async def test_an_unlistable_folder_keeps_its_notes(vault: Vault, monkeypatch: pytest.MonkeyPatch):
    await vault.index()
    before = await state(vault)
    listing = Descent.listing

    def refused(walk: Descent, path: str) -> Any:
        if path == "folder":
            raise PermissionError
        return listing(walk, path)

    monkeypatch.setattr(Descent, "listing", refused)
    for path in ("folder", "folder/Rye.md", "folder/deep/Oven.md"):
        await vault.index(paths=(path,))
        assert vault.heard.codes == ["FILE_UNREADABLE"]
    assert await state(vault) == before


async def test_many_paths_are_indexed_in_one_run(vault: Vault, walks: list[bool]):
    await vault.index()
    for number in range(40):
        vault.write(f"many/{number % 4}/{number}.md", f"[[{number}]]")
    paths = tuple(f"many/{number % 4}/{number}.md" for number in range(20_000))
    assert (await vault.index(paths=paths)).added == 40
    assert walks == [True, False]
    assert await state(vault) == await fresh_state(vault)


def segments(folder: Path) -> list[int]:
    return [
        len(json.loads((folder / shelf / "meta.json").read_text())["segments"])
        for shelf in ("notes", "chunks")
    ]


async def test_full_text_has_few_segments_after_many_runs(vault: Vault):
    await vault.run()
    counts = []
    for number in range(20):
        vault.write(f"new/{number}.md", f"# New\n\n{WORDS[number % 8]}\n")
        await vault.run(paths=(f"new/{number}.md",))
        counts += segments(vault.directory.fulltext(1))
    assert max(counts) <= 12
    assert await state(vault) == await fresh_state(vault)


async def test_a_revision_is_published_before_its_segments_are_merged(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
):
    await vault.index()
    merged: list[int] = []
    merge = FulltextWriter.merge

    def watched(writer: FulltextWriter) -> None:
        merged.append(vault.heard.publications)
        merge(writer)

    monkeypatch.setattr(FulltextWriter, "merge", watched)
    vault.write("New.md", "new")
    await vault.index(paths=("New.md",))
    assert merged == [1]


@pytest.mark.fault(
    "The index",
    "merging full text fails or is killed after a run was published",
    "the run stands; the next one merges",
)
async def test_a_failed_merge_does_not_fail_the_run(vault: Vault, monkeypatch: pytest.MonkeyPatch):
    await vault.index()

    def failing(_: FulltextWriter) -> None:
        raise Failed("DISK_FULL", "no room")

    monkeypatch.setattr(FulltextWriter, "merge", failing)
    for number in range(9):
        vault.write(f"{number}.md", "flour")
        await vault.index(paths=(f"{number}.md",))
    monkeypatch.undo()
    vault.write("Last.md", "flour")
    assert await leaves_what_a_whole_run_leaves(vault, "Last.md")


class Editor:
    """Makes random edits and records the touched paths."""

    def __init__(self, vault: Vault, seed: int) -> None:
        self._vault = vault
        self._chance = random.Random(seed)
        self._stems = ("Alpha", "beta", "Gamma", "index", "caf\u00e9")
        self._folders = ("", "x/", "x/y/", "z/", "X/", "private/")
        self.touched: list[str] = []

    def edit(self) -> None:
        """Make one random edit."""
        kinds = (
            *[self._write] * 5,
            *[self._remove] * 2,
            *[self._rename] * 2,
            *[self._attach] * 2,
            *(self._move_folder, self._respell, self._break, self._mend, self._look),
            *(self._link, self._touch),
        )
        self._chance.choice(kinds)()

    def _path(self, suffix: str = ".md") -> str:
        return self._chance.choice(self._folders) + self._chance.choice(self._stems) + suffix

    def _some(self, pattern: str = "*") -> str | None:
        files = sorted(
            path.relative_to(self._vault.root).as_posix()
            for path in self._vault.root.rglob(pattern)
            if path.is_symlink() or path.is_file()
        )
        return self._chance.choice(files) if files else None

    def _text(self) -> str:
        chance = self._chance
        targets = [
            chance.choice((self._path(""), chance.choice(self._stems), "A1", "a2", "p.png"))
            for _ in range(3)
        ]
        alias = f"---\naliases: [A{chance.randrange(4)}, Loaf]\n---\n" * chance.randrange(2)
        links = " ".join(f"[[{target}]]" for target in targets)
        return f"{alias}# {chance.choice(WORDS)}\n\n{links}\n\n{chance.choice(WORDS)} ![](../p.png)"

    def _file(self, path: str, content: str | bytes) -> None:
        file = self._vault.root / path
        if any(parent.is_file() for parent in file.parents) or file.is_dir():
            return
        if file.is_symlink() and not file.exists():  # it may lead to itself
            file.unlink()
        self._vault.write(path, content)
        self.touched.append(path)

    def _write(self) -> None:
        self._file(self._path(), self._text())

    def _break(self) -> None:
        self._file(self._path(), b"\0" * self._chance.randrange(50, 99))
        path = self._path(" unread.md")
        if not (self._vault.root / path).exists():
            self._vault.unreadable.add(path)
            self._file(path, self._text())

    def _mend(self) -> None:
        self.touched += self._vault.unreadable
        self._vault.unreadable.clear()

    def _attach(self) -> None:
        self._file(self._chance.choice(self._folders) + "p.png", b"")

    def _remove(self) -> None:
        if path := self._some():
            (self._vault.root / path).unlink()
            self.touched.append(path)

    def _rename(self) -> None:
        path, target = self._some("*.md"), self._path()
        if path and not (self._vault.root / target).is_dir() and path not in self._vault.unreadable:
            (self._vault.root / target).parent.mkdir(parents=True, exist_ok=True)
            (self._vault.root / path).rename(self._vault.root / target)
            self.touched += [path, target]

    def _respell(self) -> None:
        if path := self._some("*.md"):
            target = unicodedata.normalize("NFD", path) if "\u00e9" in path else path.swapcase()
            folder = path.rpartition("/")[0]
            target = f"{folder}/{target.rpartition('/')[2]}" if folder else target
            if path not in self._vault.unreadable:
                (self._vault.root / path).rename(self._vault.root / target)
                self.touched += [path, target]

    def _move_folder(self) -> None:
        folder = self._vault.root / self._chance.choice(("x", "z", "x/y"))
        target = self._vault.root / self._chance.choice(("w", "z/w", "X"))
        possible = folder.is_dir() and target.parent.is_dir() and folder not in target.parents
        if possible and not target.exists():
            self._mend()
            folder.rename(target)
            self.touched += [
                path.relative_to(self._vault.root).as_posix() for path in (folder, target)
            ]

    def _touch(self) -> None:
        if path := self._some():
            os.utime(
                self._vault.root / path, (1, self._chance.randrange(1, 99)), follow_symlinks=False
            )
            self.touched.append(path)

    def _link(self) -> None:
        name = self._chance.choice(("link.md", "z/linked", "x/link.md"))
        link = self._vault.root / name
        if link.is_symlink():
            link.unlink()
        elif link.parent.is_dir() and self._chance.random() < 0.5:
            link.symlink_to(self._vault.root / self._chance.choice(("x", "x/Alpha.md", "beta.md")))
        self.touched.append(name)

    def _look(self) -> None:
        looks = ("x", "nothing.md", "../up.md", ".hidden", "private", self._path())
        self.touched.append(self._chance.choice(looks))


async def check_random_edits(vault: Vault, walks: list[bool], *, seed: int, rounds: int) -> None:
    """Make random edits, run over the touched paths, and compare with a fresh index."""
    await vault.index()
    editor = Editor(vault, seed)
    by_paths = 0
    for _ in range(rounds):
        editor.touched = []
        for _ in range(editor._chance.randint(1, 4)):
            editor.edit()
        walks.clear()
        await vault.index(paths=tuple(editor.touched))
        by_paths += True not in walks
        assert await state(vault) == await fresh_state(vault), editor.touched
    assert by_paths > rounds // 3


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_edits_give_the_same_index_as_a_fresh_run(
    vault: Vault, walks: list[bool], seed: int
):
    await check_random_edits(vault, walks, seed=seed, rounds=7)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 15))
async def test_hundreds_of_random_edits_give_the_same_index_as_a_fresh_run(
    vault: Vault, walks: list[bool], seed: int
):
    await check_random_edits(vault, walks, seed=seed, rounds=100)
