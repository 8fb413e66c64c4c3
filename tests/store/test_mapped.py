"""Truncated mapped files are detected before they are read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.support.index_runs import Vault

from vault_agent.errors import IndexUnavailable
from vault_agent.model.search import Filters
from vault_agent.search.query import compile_query
from vault_agent.store.failures import MappedFiles
from vault_agent.store.fulltext.reader import FulltextReader

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a mapped file cannot be cut there")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(bytes(1000))
    return path


def test_a_truncated_file_is_refused_until_it_is_restored(file: Path):
    files = MappedFiles([file])
    files.check()
    os.truncate(file, 999)
    for _ in range(2):
        with pytest.raises(IndexUnavailable):
            files.check()
    os.truncate(file, 1000)
    files.check()


def test_a_file_that_grew_is_checked_against_its_new_size(file: Path):
    files = MappedFiles([file])
    os.truncate(file, 2000)
    files.check()
    os.truncate(file, 1000)
    with pytest.raises(IndexUnavailable):
        files.check()


def test_a_removed_file_stays_usable_unless_it_was_truncated(file: Path, tmp_path: Path):
    files = MappedFiles([file])
    file.rename(tmp_path / "aside")
    files.check()
    (tmp_path / "aside").rename(file)
    os.truncate(file, 10)
    with pytest.raises(IndexUnavailable):
        files.check()
    file.unlink()
    with pytest.raises(IndexUnavailable):
        files.check()


async def test_every_full_text_read_checks_the_files_first(tmp_path: Path):
    vault = Vault(tmp_path)
    vault.write("A.md", "# A\n\nsome words\n")
    await vault.index()
    folder = vault.directory.fulltext(1)
    reader = FulltextReader(folder)
    [terms] = (folder / "notes").glob("*.term")
    # A shorter file in its place, since just after an opening the engine may still load the files
    # from a thread of its own: it would kill the tests if one that it has mapped were truncated.
    terms.unlink()
    terms.touch()
    for read in (
        lambda: reader.candidates(compile_query("words"), Filters()),
        lambda: reader.admitted(Filters(paths=("*.md",))),
        lambda: reader.document_frequencies(["word"]),
    ):
        with pytest.raises(IndexUnavailable):
            read()
