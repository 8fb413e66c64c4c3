"""The tree of files: it is walked, and files are renamed, moved, deleted and brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from tests.product.written import Written
from tests.waiting import eventually
from tests.web.desk import Desk
from tests.web.test_everybody import RULES, violations
from tests.web.vault import write_vault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page
    from tests.web.watched import Places


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Written]:
    """Serve a vault in which files may be moved and deleted."""
    made = Written(tmp_path_factory.mktemp("files"), allow="create,append,edit,move,delete")
    made.variables |= {"VAULT_AGENT_WEB_ENABLED": "true", "VAULT_AGENT_WATCH_ENABLED": "true"}
    write_vault(made.vault, more=230)
    for name, text in (
        ("plans/Roof.md", "# Roof\n\nSee [[Beams]] and [beams](../stock/Beams.md).\n"),
        ("stock/Beams.md", "# Beams\n\nTwelve of them.\n"),
        ("stock/oak/Door.md", "# Door\n\nOf oak.\n"),
        ("stock/Old list.md", "# Old list\n\nNobody needs it.\n"),
    ):
        made.write(name, text)
    made.start()
    for job in made.call("GET", "/jobs").data["jobs"]:
        made.finish(job["id"])
    made.finish(made.submit())
    yield made
    made.close()


@pytest.fixture
def desk(program: Written, browser: Browser, places: Places) -> Iterator[Desk]:
    """Open pages of it. The test fails if one misbehaved."""
    made = Desk(program, browser, places)
    made.settle()  # what the test before has changed
    yield made
    made.close()


def tree(page: Page) -> None:
    """Show the tree of files."""
    expect(page.locator(".row").first).to_be_visible()
    page.get_by_role("button", name="Show or hide the tree of files").click()
    expect(leaf(page, "plans")).to_be_visible()


def leaf(page: Page, name: str):
    return page.get_by_role("treeitem").filter(has=page.get_by_text(name, exact=True))


def test_the_tree_is_walked_by_keys(desk: Desk):
    page = desk.open("/notes")
    tree(page)
    leaf(page, "stock").focus()
    page.keyboard.press("ArrowRight")
    expect(leaf(page, "oak")).to_have_attribute("aria-level", "2")
    expect(leaf(page, "Beams")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(leaf(page, "oak")).to_be_focused()
    page.keyboard.press("b")
    expect(leaf(page, "Beams")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".doc > header h1")).to_have_text("Beams")
    expect(leaf(page, "Beams")).to_have_attribute("aria-selected", "true")
    leaf(page, "Beams").focus()
    page.keyboard.press("ArrowLeft")
    expect(leaf(page, "stock")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(leaf(page, "Beams")).to_have_count(0)


def test_a_folder_of_many_notes_is_drawn_in_part(desk: Desk):
    page = desk.open("/notes")
    tree(page)
    leaf(page, "more").click()
    expect(leaf(page, "Note 0000")).to_be_visible()
    assert page.get_by_role("treeitem").count() < 100
    page.locator(".tree").evaluate("e => (e.scrollTop = 195 * 28)")
    expect(leaf(page, "Note 0200")).to_have_count(1)  # the next page was asked for
    page.locator(".tree").evaluate("e => (e.scrollTop = e.scrollHeight)")
    expect(leaf(page, "Note 0229")).to_have_count(1)


def test_an_open_note_is_shown_in_the_tree(desk: Desk):
    page = desk.open(f"/notes/{desk.id_of('Door')}")
    tree(page)
    expect(leaf(page, "Door")).to_be_visible()
    expect(leaf(page, "Door")).to_have_attribute("aria-selected", "true")


def test_a_search_shows_its_results_instead_of_the_tree(desk: Desk):
    page = desk.open("/notes")
    tree(page)
    page.locator("#find").fill("twelve")
    expect(page.locator(".row h2").first).to_have_text("Beams")
    page.get_by_role("button", name="Clear").click()
    expect(leaf(page, "plans")).to_be_visible()


def test_a_renamed_note_takes_its_links_along_and_comes_back(desk: Desk):
    page = desk.open(f"/notes/{desk.id_of('Beams')}")
    expect(page.locator(".back")).to_be_visible()
    page.keyboard.press("F2")
    dialog = page.get_by_role("dialog", name="Rename or move")
    dialog.get_by_role("textbox", name="Name").fill("Oak beams")
    expect(dialog).to_contain_text("stock/Oak beams.md")
    expect(dialog).to_contain_text("2 links in 1 note will follow")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Moved to stock/Oak beams.md")
    desk.until("plans/Roof.md", "[[Oak beams]] and [beams](../stock/Oak%20beams.md)")
    expect(page.locator(".doc > header h1")).to_have_text("Beams")  # it is open at its new place
    page.locator(".toast button").click()
    desk.until("plans/Roof.md", "[[Beams]] and [beams](../stock/Beams.md)")
    expect(page.locator(".doc > header h1")).to_have_text("Beams")


def test_a_name_that_is_taken_is_refused_before_anything_moves(desk: Desk):
    page = desk.open(f"/notes/{desk.id_of('Beams')}")
    expect(page.locator(".back")).to_be_visible()
    page.keyboard.press("F2")
    dialog = page.get_by_role("dialog", name="Rename or move")
    dialog.get_by_role("textbox", name="Name").fill("Old list")
    expect(dialog.locator(".bad")).to_be_visible()
    expect(dialog.get_by_role("button", name="Move")).to_be_disabled()
    page.keyboard.press("Escape")
    assert desk.read("stock/Beams.md") == b"# Beams\n\nTwelve of them.\n"


def test_a_note_is_dragged_into_a_folder(desk: Desk):
    desk.note("plans/Wall.md", "# Wall\n\nOf stone.\n")
    page = desk.open("/notes")
    tree(page)
    leaf(page, "plans").click()
    leaf(page, "Wall").drag_to(leaf(page, "stock"))
    dialog = page.get_by_role("dialog", name="Rename or move")
    expect(dialog).to_contain_text("stock/Wall.md")
    dialog.get_by_role("button", name="Move").click()
    desk.until("stock/Wall.md", "Of stone.")


def test_a_deleted_note_is_in_the_trash_and_comes_back(desk: Desk):
    desk.note("plans/Fence.md", "# Fence\n\nSee [[Old list]].\n")
    page = desk.open(f"/notes/{desk.id_of('Old%20list')}")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete")
    expect(dialog).to_contain_text("1 link leads to it")
    dialog.get_by_role("button", name="Delete").click()
    eventually(lambda: not (desk.program.vault / "stock/Old list.md").exists())
    expect(page.locator("article.read")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type(">last changes")
    page.keyboard.press("Enter")
    changes = page.get_by_role("dialog", name="Last changes")
    first = changes.get_by_role("listitem").first
    expect(first).to_contain_text("Deleted")
    first.get_by_role("button", name="Undo").click()
    desk.until("stock/Old list.md", "Nobody needs it.")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing_in_the_tree_and_its_dialogs(desk: Desk, theme: str, width: int):
    page = desk.open("/notes", color_scheme=theme, viewport={"width": width, "height": 800}, reduced_motion="reduce")  # fmt: skip
    tree(page)
    leaf(page, "stock").click()
    expect(leaf(page, "Beams")).to_be_visible()
    found = {"tree": violations(page, RULES)}
    leaf(page, "Beams").focus()
    page.keyboard.press("F2")
    page.get_by_role("textbox", name="Name").fill("Oak")
    expect(page.get_by_role("dialog")).to_contain_text("will follow")
    found["move"] = violations(page, RULES)
    page.keyboard.press("Escape")
    leaf(page, "Beams").focus()
    page.keyboard.press("Delete")
    expect(page.get_by_role("dialog")).to_contain_text("2 links lead to it")
    found["delete"] = violations(page, RULES)
    assert not any(found.values()), found
