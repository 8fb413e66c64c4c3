"""The path that every write takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vault_agent.errors import Conflict
from vault_agent.markdown.edit import append
from vault_agent.model.writing import PENDING, Right, Write
from vault_agent.vault.root import VaultRoot
from vault_agent.writing.write import Writing

if TYPE_CHECKING:
    from pathlib import Path


async def follow(paths, wait_ms):
    return PENDING


async def test_a_note_is_created_and_edited(tmp_path: Path):
    writing = Writing(lambda: VaultRoot.open(tmp_path), follow)
    write = Write(operation="create", right=Right.CREATE)
    assert (await writing.create("A.md", write, b"one\n")).created
    await writing.edit("A.md", write, lambda note: append(note, "two\n"))
    assert (tmp_path / "A.md").read_bytes() == b"one\ntwo\n"
    with pytest.raises(Conflict, match="NOTE_EXISTS"):
        await writing.create("A.md", write, b"")
