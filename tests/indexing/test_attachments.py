"""The text of attachments in an index: read once, found, left out of what is about notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.search.opened import indexed, opened
from tests.support.archives import book, paragraph, word
from tests.support.index_runs import Vault
from tests.support.pdfs import pdf, slow_pdf

from vault_agent.extract import read
from vault_agent.extract.parts import MAX_PAGES
from vault_agent.indexing import attachments
from vault_agent.indexing.attachments import OneFile, attachment_reader, read_attachments
from vault_agent.indexing.changes import compare
from vault_agent.indexing.protocol import AttachmentsRead, ReadAttachments
from vault_agent.model.identifiers import identify
from vault_agent.model.lists import ListQuery
from vault_agent.model.reading import PartQuery
from vault_agent.model.scope import Scope
from vault_agent.model.search import Hit, RelatedQuery, SearchQuery
from vault_agent.search.lists import list_notes
from vault_agent.search.note_file import indexed_text, read_chunk
from vault_agent.search.related import related
from vault_agent.search.resolve import resolve
from vault_agent.search.search import search_in
from vault_agent.store.current import Snapshot
from vault_agent.store.index import documents
from vault_agent.store.index import notes as stored_notes
from vault_agent.system.crash import CrashReport
from vault_agent.vault.platform import folder_at

PAGES = ("The kettle\nwas on the stove.", "Nothing here.", "A marmalade recipe\nfrom Seville.")
KINDS = ("pdf", "text", "csv", "html", "canvas", "code")


async def hits(snapshot: Snapshot, query: str) -> tuple[Hit, ...]:
    return (await search_in(snapshot, SearchQuery(query))).results


def made(folder: Path, kinds: tuple[str, ...] = KINDS) -> Vault:
    vault = Vault(folder, attachments=kinds)
    vault.write("Notes/Tea.md", "# Tea\n\nSee [[manual.pdf]] about the kettle.\n")
    vault.write("Papers/manual.pdf", pdf(PAGES))
    vault.write("Papers/list.txt", "first line\nquince jelly\n")
    return vault


async def test_a_page_of_a_pdf_is_found_with_its_number(tmp_path: Path):
    async with indexed(made(tmp_path)) as snapshot:
        [hit] = await hits(snapshot, "marmalade Seville")
        assert (hit.path, hit.page, hit.kind) == ("Papers/manual.pdf", 3, "pdf")
        assert (hit.title, hit.heading_path) == ("manual.pdf", ("Page 3",))
        assert "marmalade recipe" in hit.snippet
        passage = await read_chunk(snapshot, hit.note_id, hit.chunk_index or 0)
        assert passage.content == "A marmalade recipe\nfrom Seville.\n"
        assert passage.content_type.startswith("text/plain")


async def test_a_line_of_a_text_file_is_found(tmp_path: Path):
    async with indexed(made(tmp_path)) as snapshot:
        [hit] = await hits(snapshot, "quince")
        assert (hit.path, hit.line, hit.kind, hit.page) == ("Papers/list.txt", 2, "text", None)


async def test_without_the_setting_the_index_has_no_text_of_attachments(tmp_path: Path):
    async with indexed(made(tmp_path, ())) as snapshot:
        assert not await hits(snapshot, "marmalade")
        assert await snapshot.read(stored_notes.files, "document") == []


async def test_only_chosen_kinds_are_read(tmp_path: Path):
    async with indexed(made(tmp_path, ("text",))) as snapshot:
        assert not await hits(snapshot, "marmalade")
        assert await hits(snapshot, "quince")


async def test_what_is_about_notes_does_not_change(tmp_path: Path):
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    with_text, without = made(tmp_path / "with"), made(tmp_path / "without", ())
    assert await with_text.index() == replace(await without.index(), chunks=5)
    one, other = await with_text.dump(), await without.dump()
    totals, others = one.pop("totals"), other.pop("totals")
    assert one == other
    assert (totals[0], totals[2]) == (others[0], others[2])  # notes and links
    assert await with_text.links("Notes/Tea.md") == {"manual.pdf": ("Papers/manual.pdf", False)}
    async with indexed(with_text) as snapshot:
        for query in (ListQuery(), ListQuery(path=("Papers",))):
            listed = await list_notes(snapshot, query)
            assert listed.total == len(listed.notes)
            assert all(note.path.endswith(".md") for note in listed.notes)


async def test_a_scope_hides_attachments_outside_it(tmp_path: Path):
    vault = made(tmp_path)
    vault.scope = Scope(("Papers",))
    async with indexed(vault) as snapshot:
        assert await hits(snapshot, "marmalade")
    vault.scope = Scope(("Notes",))
    await vault.index(rebuild=True)
    async with indexed(vault) as snapshot:
        assert not await hits(snapshot, "marmalade")
        with pytest.raises(Exception, match="No note"):
            await resolve(snapshot, "manual.pdf", attachments=True)


def test_a_worker_reads_no_attachment_through_a_link(tmp_path: Path):
    vault = made(tmp_path)
    vault.write("Notes/list.txt").unlink()
    (vault.root / "Notes/list.txt").symlink_to("../Papers/list.txt")
    spec = vault.spec()
    attachment_reader()(OneFile(spec, folder_at(spec.root), "Notes/list.txt"))
    assert not [*vault.directory.texts.glob("*/*")]


async def test_exclusions_count_for_attachments(tmp_path: Path):
    vault = made(tmp_path)
    await vault.index()
    vault.exclude = ("Papers/*.pdf",)
    await vault.index(rebuild=True)
    async with indexed(vault) as snapshot:
        assert not await hits(snapshot, "marmalade")
        assert await hits(snapshot, "quince")


async def test_changes_renames_and_removals_are_followed(tmp_path: Path):
    vault = made(tmp_path)
    first = await vault.index()
    assert (first.added, first.removed, first.unchanged) == (1, 0, 0)
    vault.write("Papers/list.txt", "a damson\n")
    (vault.root / "Papers/manual.pdf").rename(vault.root / "Papers/book.pdf")
    second = await vault.index(paths=("Papers",))
    assert (second.added, second.changed, second.renamed, second.removed) == (0, 0, 0, 0)
    assert second.unchanged == 1
    async with indexed(vault) as snapshot:
        assert not await hits(snapshot, "quince")
        assert [hit.path for hit in await hits(snapshot, "damson")] == ["Papers/list.txt"]
        assert [hit.path for hit in await hits(snapshot, "marmalade")] == ["Papers/book.pdf"]
    (vault.root / "Papers/book.pdf").unlink()
    async with indexed(vault) as snapshot:
        assert not await hits(snapshot, "marmalade")
    assert not compare(vault.spec()).stale


async def test_each_content_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    vault = made(tmp_path)
    await vault.index()

    def never(_: bytes) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(read, "read_pdf", never)
    (vault.root / "Papers/manual.pdf").rename(vault.root / "manual copy.pdf")
    await vault.index()
    await vault.index(rebuild=True)
    async with indexed(vault) as snapshot:
        assert [hit.page for hit in await hits(snapshot, "marmalade")] == [3]


@pytest.mark.parametrize("replaced", [False, True])
async def test_the_text_of_a_file_that_is_gone_is_not_kept(tmp_path: Path, replaced: bool):
    vault = made(tmp_path)
    await vault.index()
    [kept] = vault.directory.texts.glob("*/*.pdf-*")
    if replaced:
        vault.write("Papers/manual.pdf", "not a PDF any more")
    else:
        (vault.root / "Papers/manual.pdf").unlink()
    await vault.index(paths=("Papers",))  # as the watcher does
    assert not kept.exists()


async def test_a_run_succeeds_if_an_old_text_cannot_be_removed(tmp_path: Path):
    vault = made(tmp_path)
    await vault.index()
    (stuck,) = vault.directory.texts.glob("*/*.pdf-*")
    (stuck.parent / "folder").mkdir()  # nobody can unlink it
    (vault.root / "Papers/manual.pdf").unlink()
    await vault.index()
    assert not stuck.exists()


async def test_a_damaged_kept_text_is_read_again(tmp_path: Path):
    vault = made(tmp_path)
    await vault.index()
    [kept] = vault.directory.texts.glob("*/*.pdf-*")
    kept.write_bytes(b"damaged")
    await vault.index(rebuild=True)
    async with indexed(vault) as snapshot:
        assert await hits(snapshot, "marmalade")


@pytest.mark.fault("Attachments", "a PDF is encrypted or damaged", "it is found by its name only")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf(["secret"], encrypted=True), "encrypted"),
        (b"%PDF-1.7\nnothing", "damaged"),
        (b"", "damaged"),
        (pdf(PAGES)[:200], "damaged"),
        (pdf(["x"]).replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]"), "damaged"),
    ],
)
async def test_a_pdf_that_cannot_be_read_is_found_by_its_name(
    tmp_path: Path, data: bytes, reason: str
):
    vault = made(tmp_path)
    vault.write("strange.pdf", data)
    async with indexed(vault) as snapshot:
        assert [(w.code, w.details) for w in vault.heard.warnings] == [
            ("ATTACHMENT_NOT_READ", {"path": "strange.pdf", "reason": reason})
        ]
        [hit] = await hits(snapshot, "strange")
        assert (hit.path, hit.chunk_index) == ("strange.pdf", None)
    vault.heard.warnings.clear()
    await vault.index()
    assert not vault.heard.warnings, "it is read again only after a change"


@pytest.mark.fault("Attachments", "a text file has binary data", "it is left out, with a warning")
async def test_a_binary_file_with_the_name_of_a_text_is_left_out(tmp_path: Path):
    vault = made(tmp_path)
    vault.write("data.txt", bytes(1000))
    await vault.index()
    assert vault.heard.codes == ["FILE_BINARY"]
    assert not compare(vault.spec()).stale
    await vault.index()
    assert not vault.heard.warnings


async def test_only_the_beginning_of_a_pdf_over_the_limit_is_searched(tmp_path: Path):
    vault = made(tmp_path)
    vault.write("long.pdf", pdf([*["a medlar tree"] * MAX_PAGES, "a service tree"]))
    async with indexed(vault) as snapshot:
        assert [(w.code, w.details["reason"]) for w in vault.heard.warnings] == [
            ("ATTACHMENT_CUT", "pages")
        ]
        assert (await hits(snapshot, "medlar"))[0].page == 1
        assert not await hits(snapshot, "service")


@pytest.mark.fault(
    "Attachments",
    "an attachment takes too much time or memory",
    "its process is ended; it is found by its name only",
)
async def test_an_attachment_over_the_limits_is_tried_once_and_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(attachments, "ROUND_SECONDS", 600.0)
    vault = made(tmp_path, ("pdf",))
    vault.write("slow.pdf", slow_pdf())
    await vault.index_notes()
    async with opened(vault) as snapshot:
        assert await hits(snapshot, "Tea")
    crashes: list[CrashReport] = []
    task = ReadAttachments(vault.spec())
    read = await read_attachments(task, vault.heard, crashes.append, cpu_seconds=1.0)
    assert read == AttachmentsRead(("Papers/manual.pdf", "slow.pdf"), None)
    assert not crashes

    async with indexed(vault) as snapshot:  # each outcome is kept, so no file is read again
        assert [(w.code, w.details) for w in vault.heard.warnings] == [
            ("ATTACHMENT_NOT_READ", {"path": "slow.pdf", "reason": "limits"})
        ]
        assert [hit.path for hit in await hits(snapshot, "slow")] == ["slow.pdf"]
        assert await hits(snapshot, "marmalade")


async def test_reading_goes_on_after_the_last_path_of_a_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(attachments, "ROUND_FILES", 1)
    vault = made(tmp_path)
    await vault.index_notes()
    first, second, third = "Papers/list.txt", "Papers/manual.pdf", None
    read = await read_attachments(ReadAttachments(vault.spec()), vault.heard, print)
    assert read == AttachmentsRead((first,), first)
    read = await read_attachments(ReadAttachments(vault.spec(), first), vault.heard, print)
    assert read == AttachmentsRead((second,), third)


async def test_a_text_without_room_to_keep_it_leaves_its_attachment_waiting(tmp_path: Path):
    vault = made(tmp_path, ("text",))
    await vault.index_notes()
    vault.directory.texts.write_bytes(b"no folder")
    read = await read_attachments(ReadAttachments(vault.spec()), vault.heard, print)
    assert read == AttachmentsRead((), None)
    vault.directory.texts.unlink()
    async with indexed(vault) as snapshot:
        assert await hits(snapshot, "quince")


async def test_related_finds_attachments_and_takes_them(tmp_path: Path):
    vault = made(tmp_path)
    vault.write("Notes/Jam.md", "# Jam\n\nMarmalade recipe with oranges from Seville, marmalade.\n")
    async with indexed(vault) as snapshot:
        jam = await related(snapshot, RelatedQuery(identify("Notes/Jam.md")))
        assert "Papers/manual.pdf" in [hit.path for hit in jam.results]
        paper = await related(snapshot, RelatedQuery(identify("Papers/manual.pdf")))
        assert {"Notes/Jam.md", "Notes/Tea.md"} <= {hit.path for hit in paper.results}


async def test_the_text_is_read_by_page_and_by_line(tmp_path: Path):
    vault = made(tmp_path)
    async with indexed(vault) as snapshot:
        named = await resolve(snapshot, "manual.pdf", attachments=True)
        assert [note.path for note in named.notes] == ["Papers/manual.pdf"]
        stored = await snapshot.read(documents.note_or_document, named.notes[0].note_id)
        assert stored is not None

        file = await snapshot.read(indexed_text, stored)

        def text(**query: object) -> str:
            asked = PartQuery(**query)  # type: ignore[arg-type]
            return file.part(stored, asked, 10_000).text

        assert text(section="page 3") == "A marmalade recipe\nfrom Seville.\n"
        assert text(first_line=2, last_line=3) == "was on the stove.\nNothing here.\n"
        assert text(view="outline") == "1: Page 1\n3: Page 2\n4: Page 3\n"
        whole = file.part(stored, PartQuery(), 10_000)
        assert (whole.lines, whole.note_hash) == (5, None)


async def test_a_write_takes_no_attachment_for_a_note(tmp_path: Path):
    async with indexed(made(tmp_path)) as snapshot:
        with pytest.raises(Exception, match="No note"):
            await resolve(snapshot, identify("Papers/manual.pdf"))
        assert await snapshot.read(stored_notes.note_by_id, identify("Papers/manual.pdf")) is None


async def test_office_documents_and_books_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    vault = made(tmp_path, ("office", "epub"))
    vault.write("Plans.docx", word(paragraph("Orchard", "Heading1") + paragraph("a medlar tree")))
    vault.write("Tale.epub", book("<h1>One</h1><p>a bullace hedge</p>"))
    vault.write("broken.xlsx", b"no archive")
    async with indexed(vault) as snapshot:
        assert vault.heard.codes == ["ATTACHMENT_NOT_READ"]
        [plan] = await hits(snapshot, "medlar")
        assert (plan.path, plan.heading, plan.kind) == ("Plans.docx", "Orchard", "office")
        [tale] = await hits(snapshot, "bullace")
        assert (tale.path, tale.heading, tale.kind) == ("Tale.epub", "One", "epub")
    monkeypatch.setattr(read, "read_office", None)
    monkeypatch.setattr(read, "read_book", None)
    vault.write("broken.xlsx", b"").unlink()
    await vault.index(rebuild=True)
    async with indexed(vault) as snapshot:
        assert await hits(snapshot, "medlar")


async def test_html_canvas_and_tables_are_read(tmp_path: Path):
    vault = made(tmp_path)
    vault.write(
        "page.html",
        "<html><head><title>no</title><script>evil()</script></head><body><h1>Plum cake</h1>"
        "<p>Take six&nbsp;eggs.<h2>Sauce</h2><p>custard</body></html>",
    )
    vault.write(
        "board.canvas",
        '{"nodes":[{"type":"text","text":"## Greengage\\nripe"},{"label":"Group bullace"}],'
        '"edges":[{"label":"leads to sloe"}]}',
    )
    vault.write("prices.csv", "fruit,price\nmedlar,3\n")
    async with indexed(vault) as snapshot:
        [cake] = await hits(snapshot, "eggs")
        assert (cake.path, cake.heading_path) == ("page.html", ("Plum cake",))
        assert [hit.heading for hit in await hits(snapshot, "custard")] == ["Sauce"]
        assert not await hits(snapshot, "evil")
        assert [hit.heading for hit in await hits(snapshot, "ripe")] == ["Greengage"]
        for query, path in (
            *(("bullace", "board.canvas"), ("sloe", "board.canvas"), ("medlar", "prices.csv")),
        ):
            assert [hit.path for hit in await hits(snapshot, query)] == [path]
