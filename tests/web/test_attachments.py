"""Attachments whose text is searched, in the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.pdfs import pdf
from playwright.sync_api import expect
from tests.waiting import eventually
from tests.web.conftest import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from playwright.sync_api import Page


def test_a_page_of_a_pdf_is_read_and_leads_to_the_file(
    visit: Callable[..., Page], tmp_path_factory: pytest.TempPathFactory
):
    serving = serve(tmp_path_factory.mktemp("own"), more=3, VAULT_AGENT_INDEX_ATTACHMENTS="pdf")
    for program in serving:
        program.write("Papers/manual.pdf", pdf(["A kettle.", "A marmalade recipe."]))
        eventually(lambda program=program: program.search("marmalade").data["results"])
        page = visit("/notes?q=marmalade", program=program)
        page.locator(".row h2", has_text="manual.pdf").click()
        expect(page.locator(".prose")).to_contain_text("A marmalade recipe.")
        place = page.locator(".prose h2 a.file", has_text="Page 2")
        assert "/ui/files/Papers/manual.pdf?k=" in (place.get_attribute("href") or "")
        assert (place.get_attribute("href") or "").endswith("#page=2")
        expect(page.get_by_role("button", name="Edit")).to_have_count(0)
        expect(page.locator(".back")).to_have_count(0)
