"""Damage to the files of the served index is detected."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.index_runs import Vault

from vault_agent.errors import IndexUnavailable
from vault_agent.model.search import Filters
from vault_agent.search.query import compile_query
from vault_agent.store.database import translated
from vault_agent.store.directory import IndexDirectory


@pytest.fixture
async def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    made.write("Bread.md", "---\naliases: [Loaf]\ntags: [t]\n---\n# Bread\n\nSee [[Rye]].\n")
    made.write(
        "Rye.md",
        "# Rye\n\nSlower, see ![[jar.png]], [[Loaf]] and <https://a.b/c>.\n\n- [ ] bake it\n",
    )
    made.write("jar.png", b"\x89PNG")
    await made.index()
    return made


async def refused(vault: Vault) -> bool:
    """Open an index as a server does, and read all of it."""
    index = vault.current()
    try:
        await index.refresh()
        async with index.snapshot() as snapshot:
            snapshot.fulltext.candidates(compile_query("bread rye new"), Filters())
            with translated():
                await vault.dump()
    except IndexUnavailable as refusal:
        return refusal.code == "INDEX_INCOMPATIBLE"
    finally:
        await index.close()
    return False


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM meta WHERE key = 'revision'",
        "PRAGMA user_version = 999",
    ],
)
async def test_damage_that_is_valid_sql_is_detected(vault: Vault, statement: str):
    assert not await refused(vault)
    with closing(sqlite3.connect(vault.directory.database(1))) as connection, connection:
        connection.executescript(statement)
    connection.close()
    assert await refused(vault)


async def test_a_reader_keeps_its_revision_to_the_end(vault: Vault):
    index = vault.current()
    await index.refresh()
    async with index.snapshot() as snapshot:
        vault.write("New.md", "new")
        await vault.index(rebuild=True)
        await index.refresh()
        with snapshot.connection() as connection:
            [(count,)] = connection.execute("SELECT count(*) FROM note")
    assert count == 2
    assert index.meta.notes == 3
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
    await index.close()


@pytest.mark.parametrize("text", [b"CREATE TABLE chunk (", b"tablechunkchunk"])
async def test_a_binary_schema_is_refused_without_quoting_it(vault: Vault, text: bytes):
    file = vault.directory.database(1)
    content = file.read_bytes()
    assert content.count(text) == 1
    file.write_bytes(content.replace(text, text.replace(b"chunk", b"\xff\xfe\xfd\xfc\xfb", 1)))
    assert await refused(vault)


def test_generation_numbers_are_unique_and_abandoned_ones_are_removed(tmp_path: Path):
    directory = IndexDirectory(tmp_path)
    (tmp_path / "current").write_text("2\n")
    for name in ("generation-2", "generation-3", "generation-x"):
        (tmp_path / name).mkdir()
    assert directory.next_generation() == 4
    directory.sweep(keep=2)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"current", "generation-2", "generation-x"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(file.read_bytes() + b"\0"),
        lambda file: file.unlink(),
    ],
    ids=["shorter", "longer", "gone"],
)
@pytest.mark.parametrize("pattern", ["*.term", "*.store"])
async def test_a_full_text_file_of_another_length_is_detected(vault: Vault, pattern: str, damage):
    vault.write("New.md", "a second segment")
    await vault.index()
    assert not await refused(vault)
    for file in vault.directory.fulltext(1).rglob(pattern):
        damage(file)
    assert await refused(vault)
