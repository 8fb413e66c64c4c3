"""The tree of files: it is walked, and files are renamed, moved, deleted and brought back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.program import Program
from tests.support.waiting import eventually
from tests.web.browsers import expect, held, tab_to
from tests.web.conftest import serve
from tests.web.desk import Desk
from tests.web.test_everybody import RULES, violations
from tests.web.vault import PICTURE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


NOTES = {
    "plans/Roof.md": "# Roof\n\nSee [[Beams]] and [beams](../stock/Beams.md).\n",
    "stock/Beams.md": "# Beams\n\nTwelve of them.\n",
    "stock/oak/Door.md": "# Door\n\nOf oak.\n",
    "stock/Old list.md": "# Old list\n\nNobody needs it.\n",
    "media/Öl & Holz.png": PICTURE,
    "media/Plan.canvas": '{"nodes": [], "edges": []}',
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault in which files may be moved and deleted."""
    folder = tmp_path_factory.mktemp("files")
    for program in serve(folder, more=230, writable=True, notes=NOTES):
        (program.vault / "shelf").mkdir()
        yield program


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """Return the desk once what the test before has changed can be found."""
    desk.settle()
    return desk


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


def test_attachments_and_empty_folders_are_in_the_tree(desk: Desk):
    page = desk.open("/notes")
    tree(page)
    expect(leaf(page, "shelf")).to_be_visible()
    leaf(page, "media").focus()
    page.keyboard.press("ArrowRight")
    expect(leaf(page, "Plan.canvas")).to_be_visible()
    leaf(page, "Öl & Holz.png").focus()
    page.keyboard.press("Enter")
    shown = page.get_by_role("dialog", name="Öl & Holz.png")
    expect(shown.locator("img")).to_have_js_property("naturalWidth", 1)
    page.keyboard.press("Escape")
    expect(leaf(page, "Öl & Holz.png")).to_be_focused()
    page.keyboard.press("Delete")
    page.get_by_role("dialog", name="Delete").get_by_role("button", name="Delete").click()
    expect(leaf(page, "Öl & Holz.png")).to_have_count(0)
    page.locator(".toast button").click()  # take it back
    expect(leaf(page, "Öl & Holz.png")).to_be_visible()
    expect(shown).to_have_count(0)


def test_a_folder_is_made_and_shown(desk: Desk):
    page = desk.open("/notes")
    tree(page)
    page.get_by_role("button", name="New folder").click()
    expect(page.get_by_role("textbox", name="Its name")).to_be_focused()
    page.keyboard.type("attic/boxes")
    page.keyboard.press("Enter")
    expect(leaf(page, "attic")).to_be_visible()
    leaf(page, "attic").click()
    expect(leaf(page, "boxes")).to_be_visible()
    assert (desk.program.vault / "attic/boxes").is_dir()


def test_a_folder_that_is_entered_while_its_dialog_is_loaded_is_made(desk: Desk):
    page = desk.open("/notes")
    tree(page)
    with held(page, "**/folder.js"):
        page.get_by_role("button", name="New folder").click()
        page.keyboard.type("loft")
        page.keyboard.press("Enter")
    expect(leaf(page, "loft")).to_be_visible()
    page.get_by_role("button", name="New folder").click()
    page.get_by_role("textbox", name="Its name").fill("loft")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The folder loft exists already")).to_be_visible()


def test_a_note_that_is_entered_while_its_dialog_is_loaded_is_made(desk: Desk):
    page = desk.open("/notes")
    with held(page, "**/create.js"):
        page.locator(".top .new").click()
        page.keyboard.type("Ladder")
        page.keyboard.press("Enter")
    expect(page.locator(".field-md .cm-content")).to_be_focused()
    eventually((desk.program.vault / "Ladder.md").exists)


def test_an_address_with_a_ticket_opens_the_page_that_asked_for_it(desk: Desk):
    page = desk.open("/notes").context.browser.new_context().new_page()
    page.goto(f"{desk.program.endpoint}/")
    expect(page.get_by_text("vault-agent ui")).to_be_visible()
    ticket = desk.program.send("POST", "/ui/tickets", {"printed": True}).data["ticket"]
    page.evaluate("place => (location.href = place)", f"/ui/#ticket={ticket}")
    expect(page.locator(".vault bdi:not(:empty)")).to_be_visible()
    assert ticket not in page.url
    page.context.close()


def test_enter_that_ends_a_composition_makes_no_folder(desk: Desk):
    page = desk.open("/notes")
    tree(page)
    page.get_by_role("button", name="New folder").click()
    goes_on = page.get_by_role("textbox", name="Its name").evaluate(
        "e => e.dispatchEvent(new KeyboardEvent('keydown',"
        " {key: 'Enter', keyCode: 229, isComposing: true, bubbles: true, cancelable: true}))"
    )
    assert not goes_on, "the form is not sent"


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


def test_a_note_is_renamed_moved_deleted_and_brought_back_by_keys_alone(desk: Desk):
    desk.note("plans/Gutter.md", "# Gutter\n\nOf zinc.\n")
    desk.note("plans/Rain.md", "# Rain\n\nInto the [[Gutter]].\n")
    page = desk.open("/notes")
    expect(page.locator(".row").first).to_be_visible()
    page.keyboard.press("f")
    expect(leaf(page, "plans")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("zinc")
    expect(page.locator(".row h2").first).to_have_text("Gutter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".back")).to_be_visible()
    page.keyboard.press("F2")
    dialog = page.get_by_role("dialog", name="Rename or move")
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Zinc gutter")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("stock")
    expect(dialog).to_contain_text("stock/Zinc gutter.md")
    expect(dialog).to_contain_text("Updates 1 link in 1 note")
    moves = dialog.get_by_role("button", name="Move")
    tab_to(page, moves)
    page.keyboard.press("Enter")
    desk.until("plans/Rain.md", "[[Zinc gutter]]")
    expect(page.locator(".toast")).to_contain_text("Moved to stock/Zinc gutter.md")
    expect(page.locator(".crumb")).to_contain_text("Zinc gutter")
    page.keyboard.press("Control+k")
    page.keyboard.type(">delete")
    expect(page.get_by_role("option", name="Delete")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Delete")).to_contain_text("1 link to it will break")
    tab_to(page, page.get_by_role("dialog").get_by_role("button", name="Delete"))
    page.keyboard.press("Enter")
    eventually(lambda: not (desk.program.vault / "stock/Zinc gutter.md").exists())
    page.keyboard.press("Control+k")
    page.keyboard.type(">last changes")
    expect(page.get_by_role("option", name="Show or undo the last changes")).to_be_visible()
    page.keyboard.press("Enter")
    first = page.get_by_role("dialog", name="Last changes").get_by_role("listitem").first
    expect(first).to_contain_text("Deleted")
    tab_to(page, first.get_by_role("button", name="Undo"))
    page.keyboard.press("Enter")
    desk.until("stock/Zinc gutter.md", "Of zinc.")


def test_the_palette_shows_files(desk: Desk):
    page = desk.open("/notes")
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("holz")
    expect(page.get_by_role("option").first).to_contain_text("Öl & Holz.png")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Öl & Holz.png")).to_be_visible()


def test_a_canvas_is_drawn_and_its_files_lead_on(desk: Desk):
    canvas = {
        "nodes": [
            {"id": "a", "type": "text", "x": 0, "y": 0, "width": 200, "height": 80}
            | {"text": "<img src=x onerror=alert(1)> begins here"},
            {"id": "b", "type": "file", "x": 300, "y": 0, "width": 200, "height": 80}
            | {"file": "garden/Lonely.md"},
            {"id": "g", "type": "group", "x": -40, "y": -40, "width": 640, "height": 200}
            | {"label": "All of it", "color": "4"},
        ],
        "edges": [{"id": "e", "fromNode": "a", "toNode": "b", "label": "leads to"}],
    }
    desk.program.write("maps/Way.canvas", json.dumps(canvas))
    desk.settle()
    page = desk.open("/notes")
    tree(page)
    leaf(page, "maps").click()
    leaf(page, "Way.canvas").click()
    shown = page.get_by_role("region", name="Canvas Way.canvas")
    expect(shown).to_contain_text("<img src=x onerror=alert(1)> begins here")
    expect(shown.locator("text")).to_have_text(["All of it", "leads to"])
    assert violations(page, RULES) == []
    shown.get_by_role("link", name="Lonely").click()
    expect(page.locator(".prose")).to_contain_text("links nowhere")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_starred_notes_are_where_one_begins(desk: Desk):
    page = desk.open(f"/notes/{desk.id_of('Door')}")
    page.get_by_role("button", name="Star this note").click()
    page.evaluate("location.hash = '#/notes'")
    start = page.locator(".start")
    expect(start).to_be_visible()
    desk.note("index.md", "# All of it\n")
    expect(start.locator("section", has_text="Home").get_by_role("link")).to_have_text("All of it")
    expect(start.locator("section", has_text="Starred").get_by_role("link")).to_have_text("Door")
    start.get_by_role("link", name="Door").hover()
    expect(page.locator(".hovercard h2")).to_have_text("Door")


def test_the_note_of_today_is_made_beside_the_others_and_opened(desk: Desk):
    desk.note("daily/2026-01-01.md", "# New year\n")
    page = desk.open("/notes")
    name = "2026-05-20"
    page.clock.set_fixed_time(f"{name}T12:00:00")

    def open_today() -> None:
        page.keyboard.press("Control+k")
        page.get_by_role("dialog").get_by_role("combobox").fill(">today")
        page.keyboard.press("Enter")

    open_today()
    create = page.get_by_role("dialog", name="New note")
    expect(create.get_by_role("textbox", name="Title")).to_have_value(name)
    expect(create).to_contain_text(f"daily/{name}.md")
    page.keyboard.press("Escape")
    desk.note(f"daily/{name}.md", f"# {name}\n\nRain.\n")
    open_today()
    expect(page.locator(".prose")).to_contain_text("Rain.")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing_in_the_tree_and_its_dialogs(desk: Desk, theme: str, width: int):
    page = desk.open("/notes", color_scheme=theme, viewport={"width": width, "height": 800}, reduced_motion="reduce")  # fmt: skip
    found = {}
    if width > 720:  # a phone shows the list there
        found["start"] = violations(page, RULES)
    tree(page)
    leaf(page, "stock").click()
    expect(leaf(page, "Beams")).to_be_visible()
    found["tree"] = violations(page, RULES)
    page.get_by_role("button", name="New folder").click()
    expect(page.get_by_role("textbox", name="Its name")).to_be_focused()
    found["folder"] = violations(page, RULES)
    page.keyboard.press("Escape")
    leaf(page, "media").click()
    leaf(page, "Plan.canvas").click()
    expect(page.get_by_role("dialog")).to_contain_text("This canvas is empty")
    found["file"] = violations(page, RULES)
    page.keyboard.press("Escape")
    leaf(page, "Beams").focus()
    page.keyboard.press("F2")
    page.get_by_role("textbox", name="Name").fill("Oak")
    expect(page.get_by_role("dialog")).to_contain_text("Updates")
    found["move"] = violations(page, RULES)
    page.keyboard.press("Escape")
    leaf(page, "Beams").focus()
    page.keyboard.press("Delete")
    expect(page.get_by_role("dialog")).to_contain_text("2 links to it will break")
    found["delete"] = violations(page, RULES)
    assert not any(found.values()), found


def test_an_address_names_the_note_and_follows_it(desk: Desk):
    desk.note("plans/Räume & Zeiten.md", "# Rooms\n\nText.\n")
    page = desk.open("/notes/plans/R%C3%A4ume%20%26%20Zeiten")
    expect(page.locator(".doc header h1")).to_have_text("Rooms")
    first = page.url
    assert first.endswith("#/notes/plans/R%C3%A4ume%20%26%20Zeiten")
    by_id = f"/notes/{desk.id_of('Rooms')}"
    page.get_by_role("button", name="Star this note").click()
    page.keyboard.press("F2")
    page.get_by_role("textbox", name="Name").fill("Halls v1.2")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page).to_have_url(re.compile(r"#/notes/plans/Halls%20v1\.2\.md$"))
    desk.settle()
    for address in (first.partition("#")[2], by_id):
        page.evaluate("location.hash = '#/notes'")
        expect(page.locator(".start section", has_text="Starred")).to_contain_text("Rooms")
        page.evaluate("place => location.hash = place", f"#{address}")
        expect(page.locator(".doc header h1")).to_have_text("Rooms")
        expect(page).to_have_url(re.compile(r"#/notes/plans/Halls%20v1\.2\.md$"))
    page.reload()
    expect(page.locator(".doc header h1")).to_have_text("Rooms")


def test_a_note_that_is_renamed_on_the_disk_is_followed_by_its_text(desk: Desk):
    desk.note("Before.md", "# Of two names\n\nOnly this note has this text.\n")
    page = desk.open(f"/notes/{desk.id_of('Before')}")
    page.get_by_role("button", name="Star this note").click()
    vault = desk.program.vault
    vault.joinpath("Before.md").rename(vault / "After.md")
    expect(page).to_have_url(re.compile("#/notes/After$"))
    expect(page.locator(".prose")).to_contain_text("Only this note has this text.")
    expect(page.get_by_role("button", name="Star this note")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_what_is_gone_is_no_longer_among_the_notes_opened_last(desk: Desk):
    desk.note("Fleeting.md", "# Fleeting\n\nSoon gone.\n")
    page = desk.open(f"/notes/{desk.id_of('Fleeting')}")
    page.get_by_role("button", name="Star this note").click()
    desk.program.vault.joinpath("Fleeting.md").unlink()
    desk.settle()
    page.reload()
    expect(page.get_by_text("This note is gone")).to_be_visible()
    page.wait_for_function(  # the log of writes was asked whether it has moved
        "() => Object.entries(localStorage).every(([name, kept]) => !name.endsWith('.starred') || !kept.includes('Fleeting'))"
    )
    page.evaluate("location.hash = '#/notes'")
    expect(page.locator(".start")).to_be_visible()
    expect(page.locator(".start")).not_to_contain_text("Fleeting")


def test_a_menu_of_a_note_a_folder_and_a_link(desk: Desk):
    desk.note("menus/Asked.md", "# Asked\n\nSee [[Lonely]].\n")
    page = desk.open(f"/notes/{desk.id_of('Asked')}")
    menu = page.get_by_role("menu", name="What can be done")
    page.locator(".prose a", has_text="Lonely").click(button="right")
    expect(menu.get_by_role("menuitem")).to_have_text(
        ["Open", "Open in a tab", "Copy the link", "Show in the graph", "Rename or move", "Delete"]
    )
    menu.get_by_role("menuitem", name="Open in a tab").click()
    expect(page.locator(".tabstrip a")).to_have_count(2)
    page.locator(".tabstrip a", has_text="Asked").click()
    page.locator(".row").first.click(button="right")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    page.keyboard.press("f")
    folder = page.get_by_role("treeitem", name="menus")
    folder.click(button="right")
    menu.get_by_role("menuitem", name="Rename or move").click()
    page.get_by_role("textbox", name="Name").fill("menus of notes")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_role("treeitem", name="menus of notes")).to_be_visible()
    expect(page).to_have_url(re.compile("#/notes/menus.*of.*notes/Asked"))  # it is open
    assert desk.read("menus of notes/Asked.md")
    expect(page.locator(".toast")).to_have_count(0)
    page.get_by_role("treeitem", name="menus of notes").click(button="right")
    assert violations(page, RULES) == []


def test_text_that_was_not_saved_is_shown_until_it_is_taken_up(desk: Desk):
    desk.note("Crashed.md", "# Crashed\n\n")
    page = desk.edit("Crashed")
    page.route("**/write/note", lambda route: route.abort())
    page.keyboard.insert_text("never sent")
    expect(page.locator(".saved")).to_have_text("Not saved, will try again")
    page.evaluate("location.hash = '#/notes'")
    unsaved = page.get_by_role("list", name="Text that is not saved")
    expect(unsaved).to_contain_text("Not saved: Crashed")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="Crashed").first).to_be_visible()
    page.keyboard.press("Escape")
    page.unroute("**/write/note")
    page.reload()
    unsaved.get_by_role("link").click()
    page.get_by_role("button", name="Restore it").click()
    desk.until("Crashed.md", "never sent")
    page.evaluate("location.hash = '#/notes'")
    expect(page.locator(".row").first).to_be_visible()
    expect(unsaved).to_have_count(0)


def test_a_folder_is_deleted_with_its_notes_and_comes_back_by_one_undo(desk: Desk):
    desk.note("Old/Deep/One.md", "# One\n\n[[Two]]\n")
    desk.note("Old/Two.md", "# Two\n")
    desk.note("Away.md", "# Away\n\n[[Old/Two]]\n")
    page = desk.open(f"/notes/{desk.id_of('Two')}")
    tree(page)
    leaf(page, "Old").focus()
    page.keyboard.press("Delete")
    dialog = page.get_by_role("dialog", name="Delete")
    expect(dialog).to_contain_text(
        "Old moves to .trash. 2 notes are in it. 1 link to it will break."
    )
    dialog.get_by_role("button", name="Delete").click()
    expect(leaf(page, "Old")).to_have_count(0)
    expect(page.locator(".facts")).to_have_count(0)  # its note is not open any more
    assert desk.read(".trash/Old/Deep/One.md") == b"# One\n\n[[Two]]\n"
    page.locator(".toast button").click()  # take it back
    expect(leaf(page, "Old")).to_be_visible()
    assert desk.read("Old/Two.md") == b"# Two\n"
    # One without notes, by its menu.
    (desk.program.vault / "Bare").mkdir()
    page.reload()
    leaf(page, "Bare").click(button="right")
    page.get_by_role("menuitem", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(leaf(page, "Bare")).to_have_count(0)
    assert not (desk.program.vault / "Bare").exists()


BASE = """\
filters:
  and:
    - file.hasTag("shelf")
    - file.hasLink("Dune")
properties:
  note.author:
    displayName: Written by
views:
  - type: table
    name: Read
    filters:
      and:
        - status == "read"
    order: [file.name, author, rating]
    sort:
      - property: rating
        direction: DESC
  - type: table
    name: Open
    filters:
      and:
        - status != "read"
"""


def test_a_base_is_a_table_of_its_notes(desk: Desk):
    for name, head in {
        "Dune": 'status: read\nrating: 4\nauthor: "[[Frank]]"',
        "Emma": "status: read\nrating: 5\nauthor: [Jane, <b>both</b>]",
        "Kim": "status: open",
    }.items():
        desk.program.write(f"reads/{name}.md", f"---\ntags: shelf/own\n{head}\n---\nText.\n")
    desk.program.write("reads/Books.base", BASE)
    desk.program.write("reads/Odd.base", "views: &all\n  - type: table\n")
    desk.settle()
    page = desk.open("/notes")
    tree(page)
    leaf(page, "reads").click()
    leaf(page, "Books.base").click()
    dialog = page.get_by_role("dialog", name="Books.base")
    expect(dialog.locator("th")).to_have_text(["name", "Written by", "rating"])
    expect(dialog.locator("td")).to_have_text(
        ["Emma", "Jane, <b>both</b>", "5", "Dune", "Frank", "4"]
    )
    expect(dialog).to_contain_text('Not read here, and left out: file.hasLink("Dune")')
    assert violations(page, RULES) == []
    dialog.get_by_role("radio", name="Open").click()
    expect(dialog.locator("td")).to_have_text(["Kim"])
    dialog.get_by_role("link", name="Kim").click()
    expect(page.locator(".prose")).to_contain_text("Text.")
    expect(page.get_by_role("dialog")).to_have_count(0)
    desk.note("reads/Shelf.md", "# Shelf\n\n![[Books.base]]\n")
    page.evaluate("location.hash = '#/notes/reads/Shelf'")
    page.locator(".prose a.file", has_text="Books.base").click()
    expect(dialog.locator("td").first).to_have_text("Emma")
    page.keyboard.press("Escape")
    leaf(page, "Odd.base").click()
    expect(page.get_by_role("dialog", name="Odd.base")).to_contain_text("views: &all")
