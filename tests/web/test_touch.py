"""A walk by touch alone, on a phone: find, open, edit, rename, move, delete, undo, graph, conflict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.web.browsers import expect, held
from tests.web.conftest import serve
from tests.web.desk import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Browser


NOTES = {
    "plans/Roof.md": "# Roof\n\nSee [[Beams]].\n",
    "stock/Beams.md": "# Beams\n\nTwelve of them.\n",
}


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault in which everything may be changed."""
    folder = tmp_path_factory.mktemp("touch")
    yield from serve(folder, more=3, writable=True, notes=NOTES)


def test_everything_by_touch_alone(desk: Desk):
    page = desk.open("/notes", touch=True)
    page.locator("#find").tap()
    page.keyboard.insert_text("twelve")
    page.locator(".row", has_text="Beams").tap()
    title = page.locator(".doc > header h1")
    expect(title).to_have_text("Beams")

    page.get_by_role("button", name="More", exact=True).tap()
    page.get_by_role("menuitem", name="Rename or move").tap()
    dialog = page.get_by_role("dialog", name="Rename or move")
    dialog.get_by_role("textbox", name="Name").fill("Oak beams")
    dialog.get_by_role("combobox", name="Folder").fill("plans")
    expect(dialog).to_contain_text("plans/Oak beams.md")
    dialog.get_by_role("heading").tap()  # away from the suggestions
    dialog.get_by_role("button", name="Move").tap()
    desk.until("plans/Roof.md", "[[Oak beams]]")
    page.locator(".toast button").tap()
    desk.until("plans/Roof.md", "[[Beams]]")
    expect(page.locator(".toast")).to_contain_text("Taken back")
    expect(title).to_have_text("Beams")

    page.get_by_role("button", name="Edit", exact=True).tap()
    page.locator(".cm-line", has_text="Twelve").tap()
    page.keyboard.press("End")
    page.keyboard.insert_text(" Mine.")
    desk.until("stock/Beams.md", "Twelve of them. Mine.")
    with held(page, "**/write/note"):
        page.keyboard.insert_text(" More.")
        desk.program.write("stock/Beams.md", "# Beams\n\nTheirs.\n")
    expect(page.locator(".conflict")).to_be_visible()
    page.get_by_role("button", name="Save mine as a copy").tap()
    expect(page.locator(".conflict")).to_have_count(0)
    assert [each.name for each in desk.program.vault.glob("stock/Beams (conflict *).md")]

    page.get_by_role("link", name="Graph", exact=True).tap()
    canvas = page.locator(".graph > canvas")
    expect(canvas).to_be_visible()
    expect(canvas).not_to_have_attribute("data-drawn", "0")
    canvas.tap(position={"x": 190, "y": 380})
    page.get_by_role("link", name="Notes", exact=True).tap()
    page.goto(page.url.split("#")[0] + f"#/notes/{desk.id_of('Roof')}")
    expect(title).to_have_text("Roof")
    page.get_by_role("button", name="More", exact=True).tap()
    page.get_by_role("menuitem", name="Delete").tap()
    page.get_by_role("dialog", name="Delete").get_by_role("button", name="Delete").tap()
    deleted = page.locator(".toast", has_text="is in the trash")
    expect(deleted).to_be_visible()
    assert not (desk.program.vault / "plans/Roof.md").exists()
    deleted.get_by_role("button").tap()
    desk.until("plans/Roof.md", "# Roof")


def test_back_leads_from_a_note_that_was_edited_to_the_list(desk: Desk):
    page = desk.open("/notes", touch=True)
    page.locator("#find").tap()
    page.keyboard.insert_text("twelve")
    page.locator(".row", has_text="Beams").tap()
    page.get_by_role("button", name="Edit", exact=True).tap()
    expect(page.locator(".field-md .cm-content")).to_be_visible()
    page.get_by_role("button", name="Done").tap()
    expect(page.locator(".doc > header h1")).to_have_text("Beams")
    page.get_by_role("button", name="Back to the list").tap()
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator(".edit, .doc")).to_have_count(0)
