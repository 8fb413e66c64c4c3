"""The indexed text of an attachment as a page."""

from __future__ import annotations

import re
from pathlib import Path

from tests.search.opened import indexed
from tests.support.index_runs import Vault
from tests.support.pdfs import pdf

from vault_agent.model.identifiers import identify
from vault_agent.model.pages import RenderedNote
from vault_agent.search.html import Look, html_of_note
from vault_agent.system.workers import Allowance
from vault_agent.vault.root import VaultRoot


async def shown(folder: Path, path: str, content: bytes) -> RenderedNote:
    vault = Vault(folder, attachments=("pdf", "text"))
    vault.write(path, content)
    vault.write("Note.md", f"[here]({path}#page=2) and [[{path}#page=2]] and ![[{path}#page=3]]\n")
    async with indexed(vault) as snapshot, Allowance() as allowance:
        look = Look(0, lambda path: f"/ui/files/{path}", allowance)
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
