"""New notes from templates."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.writing.authored import OpenedVault, write

from vault_agent.errors import VaultAgentError
from vault_agent.markdown.parse import parse_note
from vault_agent.writing.templates import BUILT_IN, create_from_template, find_template, templates

NOW = datetime(2025, 5, 6, 7, 8, tzinfo=UTC)


@pytest.fixture
def vault(opened_vault: OpenedVault) -> OpenedVault:
    opened = opened_vault
    opened.put("Templates/Daily.md", "# {{title}} {{date}}\n{{var:mood}}\n")
    opened.put("Templates/work/Standup.md", "{{var:team}} {{var:mood}}")
    opened.put("Templates/Bug.md", "my own")
    opened.put("Templates/picture.png", "x")
    opened.put("other/No template.md", "x")
    return opened


def names(vault: OpenedVault) -> dict[str, tuple]:
    with vault.root() as root:
        found = templates(root, "Templates")
    return {each.name: (each.path, each.variables) for each in found}


def test_templates_are_listed_with_their_variables(vault: OpenedVault):
    assert names(vault) == {
        "Bug": ("Templates/Bug.md", ()),  # instead of the one that is built in
        "Daily": ("Templates/Daily.md", ("mood",)),
        "brainstorm": (None, ()),
        "decision": (None, ()),
        "journal": (None, ()),
        "meeting": (None, ()),
        "module": (None, ()),
        "pattern": (None, ()),
        "work/Standup": ("Templates/work/Standup.md", ("team", "mood")),
    }


@pytest.mark.fault(
    "Names, tasks, templates",
    "an agent asks for a template outside its folder",
    "the same reply as for one that does not exist",
)
def test_a_vault_without_the_folder_has_the_built_in_ones(opened_vault: OpenedVault):
    assert list(names(opened_vault)) == sorted(BUILT_IN)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Daily", "Daily"),
        ("daily.md", "Daily"),
        ("Templates/Daily.md", "Daily"),
        ("work/standup", "work/Standup"),
        ("Standup", "work/Standup"),
        ("bug", "Bug"),
        ("decision", "decision"),
    ],
)
def test_a_template_is_found_by_its_name(vault: OpenedVault, asked: str, name: str):
    with vault.root() as root:
        assert find_template(root, "Templates", asked).name == name


async def made(vault: OpenedVault, template: str, path: str, **values: str):
    return await create_from_template(
        vault.writer, vault.root, write(), path,
        template=template, folder="Templates", values=values, now=NOW,
    )  # fmt: skip


async def test_a_note_is_made_from_a_template(vault: OpenedVault):
    written = await made(vault, "daily", "other/My day", mood="fine")
    assert (written.path, written.created) == ("other/My day.md", True)
    assert vault.text("other/My day.md") == "# My day 2025-05-06\nfine\n"


@pytest.mark.parametrize("name", sorted(BUILT_IN))
async def test_a_built_in_template_has_a_type_and_its_title(opened_vault: OpenedVault, name: str):
    vault = opened_vault
    await made(vault, name, "What - now, 'and' @then")
    text = vault.text("What - now, 'and' @then.md")
    note = parse_note(text, path="x.md")
    assert note.types == (name,)
    assert note.title == "What - now, 'and' @then"
    assert "# What - now, 'and' @then\n" in text
    assert "{{" not in text
    assert note.warnings == ()


@pytest.mark.parametrize(
    ("template", "path", "code"),
    [
        ("Daily", "x", "INVALID_REQUEST"),
        ("none", "x", "TEMPLATE_NOT_FOUND"),
        ("../other/No template", "x", "TEMPLATE_NOT_FOUND"),
        ("decision", "a?b", "INVALID_NOTE_NAME"),
        ("decision", "../x", "PATH_OUTSIDE_VAULT"),
        ("decision", "other/No template", "NOTE_EXISTS"),
    ],
)
async def test_what_cannot_be_made_is_refused(vault: OpenedVault, template, path, code):
    with pytest.raises(VaultAgentError) as refused:
        await made(vault, template, path)
    assert refused.value.code == code
    assert not (vault.folder / "x.md").exists()


async def test_a_template_that_is_no_text_is_none(vault: OpenedVault):
    (vault.folder / "Templates/Daily.md").write_bytes(b"\xff\xfe\x00")
    assert "Daily" not in names(vault)
