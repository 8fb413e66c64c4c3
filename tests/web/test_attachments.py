"""Attachments whose text is searched, in the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.pdfs import pdf
from tests.support.program import Program
from tests.support.waiting import eventually
from tests.web.browsers import expect
from tests.web.conftest import serve
from tests.web.test_everybody import RULES, settle, too_wide, violations

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_a_page_of_a_pdf_is_read_and_leads_to_the_file(
    visit: Callable[..., Page], tmp_path_factory: pytest.TempPathFactory
):
    serving = serve(tmp_path_factory.mktemp("own"), more=3, VAULT_AGENT_INDEX_ATTACHMENTS="pdf")
    for program in serving:
        program.write("Papers/manual.pdf", pdf(["A kettle.", "A marmalade recipe."]))
        program.write("Breakfast.md", "# Breakfast\n\nAs in [[manual.pdf]].\n")
        eventually(lambda program=program: program.search("marmalade").data["results"])
        page = visit("/notes?q=marmalade", program=program)
        page.locator(".row h2", has_text="manual.pdf").click()
        expect(page.locator(".prose")).to_contain_text("A marmalade recipe.")
        expect(page).to_have_url(re.compile("at=n-h-page-2"))
        place = page.locator(".prose h2 a.file", has_text="Page 2")
        assert "/ui/files/Papers/manual.pdf?k=" in (place.get_attribute("href") or "")
        assert (place.get_attribute("href") or "").endswith("#page=2")
        expect(page.get_by_role("button", name="Edit")).to_have_count(0)
        expect(page.locator(".back .ref")).to_have_text(re.compile("Breakfast.*As in manual.pdf"))
        expect(page.locator(".back").get_by_role("tab")).to_have_count(1)


READS = """# Reads

Before it.

![[manual.pdf#page=2&height=400]]

{space}

![[other.pdf]]

![[fake.pdf]]

[[manual.pdf]]
"""


@pytest.fixture
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    for program in serve(tmp_path_factory.mktemp("papers"), more=3):
        program.write("Papers/manual.pdf", pdf(["A kettle.", "A marmalade recipe."]))
        program.write("Papers/other.pdf", pdf(["Another."]))
        program.write("Papers/fake.pdf", b"<html><script>hit = 1</script>")
        program.write("Reads.md", READS.format(space="Far.\n\n" * 80))
        eventually(lambda program=program: program.call("GET", "/resolve?name=Reads").status == 200)
        yield program


def is_viewed(page: Page) -> bool:
    """Whether the browser shows a PDF in a frame."""
    page.title()  # frames are known only after a call
    return any("chrome-extension:" in each.url for each in page.frames)


def pdf_views(page: Page, shown: bool) -> None:
    """Let the page take the browser for one that shows PDF, or for one that does not."""
    enabled = str(shown).lower()
    page.add_init_script(
        f"Object.defineProperty(navigator, 'pdfViewerEnabled', {{get: () => {enabled}}})"
    )
    page.reload()


def test_an_embedded_pdf_is_shown_by_the_browser_when_it_comes_into_view(
    visit: Callable[..., Page], note_id: Callable[..., str], papers: Program
):
    page = visit("/notes", program=papers)
    has_view = page.evaluate("navigator.pdfViewerEnabled")  # `chromium-headless-shell` has none
    pdf_views(page, True)
    asked: list[str] = []
    page.on("request", lambda each: asked.append(f"{each.method} {each.url}"))
    page.evaluate("hash => location.hash = hash", f"#/notes/{note_id('Reads', papers)}")
    frame = page.locator(".pdf-view > iframe")
    expect(frame).to_have_count(1)
    address = frame.get_attribute("src") or ""
    assert "/ui/files/Papers/manual.pdf?k=" in address
    assert address.endswith("#page=2&navpanes=0")
    expect(frame).to_have_attribute("title", "PDF Papers/manual.pdf")
    eventually(lambda: is_viewed(page) is has_view)
    assert page.locator(".pdf-view").first.evaluate("each => each.offsetHeight") == 400
    assert not any("other.pdf" in each for each in asked)
    settle(page)
    assert violations(page, RULES) + too_wide(page) == []
    page.locator(".pdf-view").nth(1).scroll_into_view_if_needed()
    expect(frame).to_have_count(2)
    fake = page.locator(".pdf-view").nth(2)
    fake.scroll_into_view_if_needed()
    expect(fake.locator("a.file small")).to_have_text("30 B")
    expect(fake).not_to_have_attribute("data-frame", "")
    assert [each.split(" ")[0] for each in asked if "fake.pdf" in each] == ["HEAD"]
    expect(frame).to_have_count(2)
    page.reload()  # the copies that the browser has are shown in frames, too
    expect(frame.first).to_be_visible()
    eventually(lambda: is_viewed(page) is has_view)


def test_without_a_view_of_pdf_an_embedded_one_is_a_link(
    visit: Callable[..., Page], note_id: Callable[..., str], papers: Program
):
    page = visit("/notes", program=papers)
    page.goto(f"{papers.endpoint}/ui/#/notes/{note_id('Reads', papers)}")
    pdf_views(page, False)
    link = page.locator(".pdf-view > a.file").first
    expect(link).to_have_text(re.compile(r"manual\.pdf.* B$"))
    expect(link).to_have_attribute("href", re.compile("#page=2$"))
    assert page.locator("iframe").count() == 0
