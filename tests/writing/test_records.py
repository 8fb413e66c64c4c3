"""Decision records."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
from tests.writing.authored import OpenedVault, write

from vault_agent.errors import VaultAgentError
from vault_agent.model.scope import EVERYTHING, Scope
from vault_agent.model.write_state import Right
from vault_agent.writing.records import Records

TODAY = date(2025, 5, 6)


class Decisions:
    """A vault with decision records."""

    def __init__(self, opened: OpenedVault) -> None:
        self.writing, self.put, self.text = opened.writing, opened.put, opened.text
        self.folder = opened.folder
        self.records = Records(opened.root)

    async def make(self, title: str, content: str | None = None) -> str:
        written = await self.records.create(
            self.writing,
            write(right=Right.CREATE),
            "adr",
            title=title,
            content=content,
            today=TODAY,
        )
        return written.path


async def test_records_are_numbered(opened_vault: OpenedVault):
    vault = Decisions(opened_vault)
    assert await vault.make("Use SQLite, not files") == "adr/ADR-001-use-sqlite-not-files.md"
    assert await vault.make("Größe") == "adr/ADR-002-größe.md"
    text = vault.text("adr/ADR-001-use-sqlite-not-files.md")
    assert text.startswith(
        '---\ntype: decision\ntitle: "ADR-001: Use SQLite, not files"\ntags: []\n'
        "status: proposed\ndate: 2025-05-06\n---\n\n"
        "# ADR-001: Use SQLite, not files\n\n## Context\n"
    )
    assert text.endswith("\n")


async def test_a_record_can_have_its_own_text(opened_vault: OpenedVault):
    vault = Decisions(opened_vault)
    assert vault.text(await vault.make("a", "Because.")).endswith("\n# ADR-001: a\n\nBecause.\n")


async def test_a_number_is_never_used_again(opened_vault: OpenedVault):
    vault = Decisions(opened_vault)
    vault.put("adr/adr-7-old.md", "")
    vault.put("adr/notes.md", "")
    assert await vault.make("a") == "adr/ADR-008-a.md"
    (vault.folder / "adr/ADR-008-a.md").unlink()  # the log knows it
    assert await vault.make("a") == "adr/ADR-009-a.md"
    vault.put(".trash/adr/ADR-020-thrown-away 2.md", "")
    assert await vault.make("a") == "adr/ADR-021-a.md"
    vault.put("adr/ADR-999.md", "")
    assert await vault.make("a") == "adr/ADR-1000-a.md"


@pytest.mark.fault(
    "Names, tasks, templates",
    "two decision records at once; a number whose file is gone or in `.trash`",
    "two numbers; never used again",
)
async def test_records_made_at_once_get_two_numbers(opened_vault: OpenedVault):
    vault = Decisions(opened_vault)
    paths = await asyncio.gather(*(vault.make(f"t{number % 2}") for number in range(6)))
    assert sorted(int(path.split("-")[1]) for path in paths) == [1, 2, 3, 4, 5, 6]


async def test_a_number_that_somebody_takes_meanwhile_is_passed_over(
    opened_vault: OpenedVault, monkeypatch
):
    vault = Decisions(opened_vault)
    vault.put("adr/ADR-001-a.md", "theirs")
    monkeypatch.setattr(vault.records, "_names", lambda folder: [])
    assert await vault.make("a") == "adr/ADR-002-a.md"
    assert vault.text("adr/ADR-001-a.md") == "theirs"


@pytest.mark.parametrize("title", ["", "?!", "a\nb", "a\0"])
async def test_a_title_is_a_line(opened_vault: OpenedVault, title: str):
    with pytest.raises(VaultAgentError) as refused:
        await Decisions(opened_vault).make(title)
    assert refused.value.code == "INVALID_REQUEST"


async def test_records_are_listed_by_number(opened_vault: OpenedVault):
    vault = Decisions(opened_vault)
    vault.put("adr/ADR-010-b.md", "---\nstatus: accepted\n---\n# Ten\n")
    vault.put("adr/ADR-9-a.md", "")
    vault.put("adr/README.md", "")
    found = await vault.records.in_folder("adr", EVERYTHING)
    assert [(each.number, each.title, each.status) for each in found] == [
        (9, "ADR-9-a", None),
        (10, "Ten", "accepted"),
    ]
    assert await vault.records.in_folder("adr", Scope("x")) == []
