"""Names of notes that are created."""

from __future__ import annotations

import pytest
from tests.writing.opened import Vault, write

from vault_agent.errors import InvalidRequest, VaultAgentError
from vault_agent.markdown.edit import append
from vault_agent.model.writing import Right, WriteLimits
from vault_agent.text.names import TEMP_FOLDER
from vault_agent.vault.paths import note_path
from vault_agent.writing import notes

CREATE = write("create", Right.CREATE)


@pytest.fixture
def closed(tmp_path) -> Vault:
    return Vault(tmp_path, WriteLimits(folders=("",), quiet_seconds=0))


@pytest.mark.fault(
    "Names, tasks, templates",
    "a twin of a name in another letter case or normal form",
    "`NAME_COLLISION` with the existing path",
)
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../x", "PATH_OUTSIDE_VAULT"),
        (".obsidian/app.json", "INVALID_NOTE_NAME"),
        (".obsidian/app", "WRITE_OUTSIDE_SCOPE"),
        ("new/con.md", "INVALID_NOTE_NAME"),
        ("a/./b", "INVALID_PATH"),
        ("a.md/", "INVALID_PATH"),
        ("new/a?", "INVALID_NOTE_NAME"),
        ("d/" * 21 + "a", "INVALID_NOTE_NAME"),
        ("E\u0301TE\u0301", "NAME_COLLISION"),
        ("été", "NOTE_EXISTS"),
    ],
)
async def test_a_refused_name_leaves_nothing(vault: Vault, path: str, code: str):
    vault.put("été.md", "mine")
    with pytest.raises(VaultAgentError) as refused:
        await vault.writer.create(note_path(path), CREATE, b"text")
    assert refused.value.code == code
    assert vault.tree() == {"été.md": b"mine"}
    assert {each.name for each in vault.root.iterdir()} == {"été.md", TEMP_FOLDER}


@pytest.mark.fault(
    "Names, tasks, templates",
    "a new note in a folder whose own name breaks a rule",
    "made: only names that come into being are checked",
)
async def test_a_folder_that_exists_may_have_any_name(vault: Vault):
    vault.put("C# [notes]/What?.md", "old\n")
    made = await vault.writer.create(note_path("c# [Notes]/New"), CREATE, b"text")
    assert made.path == "C# [notes]/New.md"
    appended = await notes.upsert(
        vault.writer, "C# [notes]/What?.md", CREATE, "new\n", None, blank_line=False
    )
    assert not appended.created
    assert vault.bytes("C# [notes]/What?.md") == b"old\nnew\n"
    await vault.writer.edit("C# [notes]/What?.md", CREATE, lambda note: append(note, "x"))


async def test_a_new_name_is_written_in_nfc(vault: Vault):
    made = await vault.writer.create(note_path("e\u0301te\u0301/A\u0308"), CREATE, b"text")
    assert made.path == "été/Ä.md"
    assert list(vault.tree()) == ["été/Ä.md"]


async def test_a_file_in_the_place_of_a_folder_is_named_as_the_reason(vault: Vault):
    vault.put("a.md", "a")
    with pytest.raises(InvalidRequest, match="A file is where the path has a folder"):
        await vault.create("a.md/b.md", "b")
    assert vault.tree() == {"a.md": b"a"}
