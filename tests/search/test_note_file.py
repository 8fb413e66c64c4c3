"""Fetch one note: limits, the file's hash, and the error if it is missing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from tests.search.opened import indexed
from tests.support.index_runs import Vault
from tests.support.pdfs import pdf

from vault_agent.errors import NotFound, TooLarge
from vault_agent.markdown import links
from vault_agent.model.identifiers import identify
from vault_agent.model.pages import RenderedNote
from vault_agent.model.reading import NoteContent
from vault_agent.search import note_file
from vault_agent.search.html import Look, html_of_note
from vault_agent.store.current import Snapshot
from vault_agent.store.index import links as stored_links
from vault_agent.system.workers import TextWorkers
from vault_agent.vault.paths import Exclusions
from vault_agent.vault.root import VaultRoot


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path)
    made.write("b.md", "# B\n")
    made.write("a.png", b"\x89PNG")
    return made


@asynccontextmanager
async def opened(vault: Vault) -> AsyncIterator[tuple[Snapshot, VaultRoot]]:
    async with indexed(vault) as snapshot:
        with VaultRoot.open(str(vault.root), Exclusions(())) as root:
            yield snapshot, root


async def fetched(vault: Vault, path: str, *, allow_large: bool = False) -> NoteContent:
    async with opened(vault) as (snapshot, root):
        return await note_file.read_whole(snapshot, root, identify(path), allow_large=allow_large)


async def test_links_and_attachments_are_listed_and_counted_separately(vault: Vault):
    file = vault.write("n.md", "![[a.png]] [[b]] [[none]] <https://x.y> ![](a.png)\n")
    note = await fetched(vault, "n.md")
    assert [link.target for link in note.links] == ["b", "none"]
    assert [link.target for link in note.attachments] == ["a.png", "a.png"]
    assert note.link_count == 4
    assert not note.links_truncated
    assert note.content_hash == sha256(file.read_bytes()).hexdigest()


@pytest.mark.fault(
    "Note contents",
    "a note with thousands of links and attachments is fetched",
    "2,000 are listed, all are counted",
)
async def test_a_reply_lists_the_first_links_and_counts_all(vault: Vault):
    vault.write("n.md", "![[a.png]]\n[[b]]\n" * 4_000)
    note = await fetched(vault, "n.md")
    assert (len(note.links), len(note.attachments), note.link_count) == (1_000, 1_000, 8_000)
    assert note.links_truncated


@pytest.mark.fault(
    "Note contents",
    "a note over the size limit with very many links is fetched",
    "413 before any link is read",
)
async def test_a_note_that_is_too_large_has_no_links_read(vault: Vault, monkeypatch):
    vault.write("n.md", "[[b]]\n" * 40_000)

    async def never(*_args, **_more):
        raise AssertionError

    async with opened(vault) as (snapshot, root):
        monkeypatch.setattr(stored_links, "outgoing", never)
        with pytest.raises(TooLarge) as refused:
            await note_file.read_whole(snapshot, root, identify("n.md"), allow_large=False)
    assert refused.value.details == {"size": 240_000, "limit": 200 << 10}
    assert "--allow-large" in refused.value.message


async def test_over_the_hard_limit_allow_large_is_not_suggested(vault: Vault, monkeypatch):
    monkeypatch.setattr(note_file, "FILE_LIMIT_BYTES", 300 << 10)
    vault.write("n.md", "x" * (301 << 10))
    with pytest.raises(TooLarge) as refused:
        await fetched(vault, "n.md", allow_large=True)
    assert "64 MiB" in refused.value.message
    assert "allow" not in refused.value.message


@pytest.mark.fault(
    "Note contents",
    "a note's file is gone since the last run",
    "404: the file is gone, and how to remove it from the index",
)
async def test_a_note_without_its_file_is_not_found(vault: Vault):
    async with opened(vault) as (snapshot, root):
        (vault.root / "b.md").unlink()
        with pytest.raises(NotFound) as refused:
            await note_file.read_whole(snapshot, root, identify("b.md"), allow_large=False)
    assert refused.value.code == "NOTE_NOT_FOUND"
    assert "moved or deleted" in refused.value.message
    assert "Update the index" in refused.value.message


async def test_a_note_that_an_editor_puts_aside_to_save_it_is_read(vault: Vault, monkeypatch):
    """As vim does by default: the note becomes `b.md~`, and a new file is written."""
    async with opened(vault) as (snapshot, root):
        note, aside = vault.root / "b.md", vault.root / "b.md~"
        saved = note.read_text() + "More\n"
        note.rename(aside)
        monkeypatch.setattr(note_file, "sleep", lambda seconds: note.write_text(saved))
        content = await note_file.read_whole(snapshot, root, identify("b.md"), allow_large=False)
    assert content.content == saved


async def test_metadata_shows_the_type_and_cuts_long_lists(vault: Vault):
    names = ", ".join(f"name{n}" for n in range(60))
    vault.write("n.md", f"---\ntype: '[[Apps]]'\naliases: [{names}]\ntags: [{names}]\n---\n")
    vault.write("m.md", f"---\ntags: [{', '.join('x' * 150 + str(n) for n in range(40))}]\n---\n")
    vault.write("o.md", "[[name59]]")
    metadata = (await fetched(vault, "n.md")).metadata
    assert (metadata.type, metadata.truncated) == ("Apps", True)
    assert len(metadata.aliases) == len(metadata.tags) == 50
    assert len((await fetched(vault, "m.md")).metadata.tags) == 13
    assert not (await fetched(vault, "b.md")).metadata.truncated
    assert (await vault.links("o.md"))["name59"][0] == "n.md"


@pytest.mark.fault(
    "Note contents",
    "a note with more links than the index keeps",
    "the first 100,000 are kept, with `NOTE_TRUNCATED`; all other notes are indexed",
)
async def test_links_over_the_limit_do_not_fail_the_run(vault: Vault, monkeypatch):
    monkeypatch.setattr(links, "MAX_LINKS", 1_000)
    vault.write("n.md", "[[b]] " * 1_500)
    vault.write("o.md", "[[b]]")
    assert (await vault.index()).links == 1_001
    assert vault.heard.codes == ["NOTE_TRUNCATED"]
    assert links.MAX_LINKS < 1 << 20


# --- the indexed text of an attachment ------------------------------------------------------------


async def shown(folder: Path, path: str, content: bytes) -> RenderedNote:
    vault = Vault(folder, attachments=("pdf", "text"))
    vault.write(path, content)
    vault.write("Note.md", f"[here]({path}#page=2) and [[{path}#page=2]] and ![[{path}#page=3]]\n")
    async with indexed(vault) as snapshot, TextWorkers() as text_workers:
        look = Look(0, lambda path: f"/ui/files/{path}", text_workers)
        with VaultRoot.open(str(vault.root)) as root:
            note = await html_of_note(snapshot, root, identify("Note.md"), look)
            if path.endswith(".pdf"):
                assert re.findall(r'href="([^"]+)"', note.html) == [
                    f"/ui/files/{path}#page={page}" for page in (2, 2, 3)
                ]
            return await html_of_note(snapshot, root, identify(path), look)


async def test_each_page_of_a_pdf_has_its_text_and_leads_to_the_page(tmp_path: Path):
    page = await shown(tmp_path, "a_b*.pdf", pdf(["# one [x] <b>", "two *x*"]))
    assert [entry.text for entry in page.outline] == ["Page 1", "Page 2"]
    assert 'href="/ui/files/a_b*.pdf#page=2"' in page.html
    assert "# one [x] &lt;b&gt;" in re.sub("<[^>]*>", "", page.html)
    assert "two *x*" in page.html
    assert page.title == "a_b*.pdf"


async def test_a_text_is_shown_as_it_is(tmp_path: Path):
    page = await shown(tmp_path, "log.txt", b"[[Note]] #tag\n```\n- [ ] no task\n")
    assert page.outline == ()
    assert "[[Note]] #tag\n```\n- [ ] no task" in page.html
