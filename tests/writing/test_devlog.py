"""The devlog."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from tests.writing.authored import OpenedVault, write

from vault_agent.errors import VaultAgentError
from vault_agent.model.authoring import DevlogKind
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.writing.devlog import add_entry, entry_line, last_entries

if TYPE_CHECKING:
    from pathlib import Path

TODAY = date(2025, 5, 6)


@pytest.fixture
def vault(opened_vault: OpenedVault, tmp_path: Path) -> OpenedVault:
    (tmp_path / "devlog").mkdir()
    return opened_vault


async def add(vault: OpenedVault, kind: str, topic: str, text: str):
    return await add_entry(
        vault.writing, write(), "devlog", kind=DevlogKind(kind), topic=topic, text=text, today=TODAY
    )


async def test_entries_have_the_form_of_the_convention(vault: OpenedVault):
    for kind in ("impl", "problem", "insight", "verify"):
        written = await add(vault, kind, "Token Rotation", f"what {kind}")
    assert written.path == "devlog/token-rotation.md"
    assert vault.text("devlog/token-rotation.md") == (
        "[impl]    2025-05-06  what impl\n"
        "[problem] 2025-05-06  what problem\n"
        "[insight] 2025-05-06  what insight\n"
        "[verify]  2025-05-06  what verify\n"
    )


async def test_an_entry_follows_what_is_there(vault: OpenedVault):
    vault.put("devlog/a.md", "# A\r\n\r\nopen")
    await add(vault, "impl", "a", "x")
    assert vault.text("devlog/a.md") == "# A\r\n\r\nopen\r\n[impl]    2025-05-06  x\r\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb\r\n  c\n", "[impl]    2025-05-06  a b c"),
        ("a\u2028b", "[impl]    2025-05-06  a b"),
        ("x" * 2_000, "[impl]    2025-05-06  " + "x" * 2_000),
        ("", None),
        (" \n ", None),
        ("x" * 2_001, None),
        ("a\0b", None),
    ],
)
def test_an_entry_is_one_line(text: str, line: str | None):
    if line is not None:
        assert entry_line(DevlogKind.IMPL, TODAY, text) == line
        return
    with pytest.raises(VaultAgentError) as refused:
        entry_line(DevlogKind.IMPL, TODAY, text)
    assert refused.value.code == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("topic", "code"), [("?!", "INVALID_REQUEST"), ("con", "INVALID_NOTE_NAME")]
)
async def test_a_topic_is_a_name(vault: OpenedVault, topic: str, code: str):
    with pytest.raises(VaultAgentError) as refused:
        await add(vault, "impl", topic, "x")
    assert refused.value.code == code


@pytest.mark.fault(
    "Names, tasks, templates",
    "a devlog topic with `../`, without letters, or the name of a device",
    "a name in the folder; refused",
)
async def test_a_topic_leads_to_no_other_folder(vault: OpenedVault):
    assert (await add(vault, "impl", "../../a/b", "x")).path == "devlog/a-b.md"


def test_the_last_entries_are_those_of_the_last_days(vault: OpenedVault):
    vault.put("devlog/a.md", "# A\n[impl] 2025-01-01  one\n[verify]  2025-01-03  three\nother\n")
    vault.put("devlog/b.md", "[problem] 2025-01-02  two\n[other] 2025-01-04  no\n")
    with vault.root() as root:
        every = last_entries(root, "devlog", EVERYTHING, topic=None, limit=10)
        two = last_entries(root, "devlog", EVERYTHING, topic=None, limit=2)
        one = last_entries(root, "devlog", EVERYTHING, topic="A!", limit=10)
        none = last_entries(root, "devlog", Scope("x"), topic=None, limit=10)
    assert [(each.topic, each.line, each.text) for each in every] == [
        ("a", 2, "one"),
        ("b", 1, "two"),
        ("a", 3, "three"),
    ]
    assert two == every[1:]
    assert one == [every[0], every[2]]
    assert none == []
