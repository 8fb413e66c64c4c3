"""The editor: what is typed is saved, nothing is lost, and whoever may not write sees none of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from tests.support.program import Program
from tests.web.browsers import expect, held, wait
from tests.web.conftest import serve
from tests.web.desk import Desk
from tests.web.payloads import PAYLOADS
from tests.web.test_everybody import RULES, settle, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route


def field(page: Page) -> Locator:
    return page.locator(".field-md .cm-content")


def state(page: Page) -> Locator:
    return page.locator(".saved")


@contextmanager
def read_again(page: Page) -> Iterator[None]:
    """Leave the context when the form of the properties has read them again."""
    with page.expect_response(
        lambda reply: reply.request.method == "GET" and reply.url.endswith("/frontmatter")
    ):
        yield


def at_end(page: Page, text: str) -> None:
    field(page).focus()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault that may be written."""
    yield from serve(
        tmp_path_factory.mktemp("desk"),
        more=3,
        writable=True,
        VAULT_AGENT_WEB_DIAGRAMS="true",
    )


def test_without_writing_nothing_that_writes_is_there(
    visit: Callable[..., Page], note_id: Callable[..., str]
):
    frost = note_id("Frost alarm")
    page = visit(f"/notes/{frost}?edit=1")
    expect(page.locator(".prose p").first).to_be_visible()
    page.keyboard.press("e")
    page.keyboard.press("Alt+n")
    page.keyboard.press("Control+e")
    expect(page.locator(".edit, dialog")).to_have_count(0)
    for name in ("New", "Edit", "Link it", "Create"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    page.get_by_role("tab", name="Unlinked").click()
    expect(page.locator(".ref").first).to_be_visible()
    expect(page.locator(".ref-row button")).to_have_count(0)
    assert page.locator(".prose a.unresolved").first.get_attribute("role") is None
    page.evaluate("location.hash = '#/settings'")
    expect(page.locator(".page")).to_contain_text("vault-agent enable write")


def test_typing_is_saved_and_changes_no_other_byte(desk: Desk):
    before = b"\xef\xbb\xbf---\r\nstatus: open # why\r\ntags: [a]\r\n---\r\n# Bytes\r\n\r\none\r\n"
    desk.note("Bytes.md", before)
    page = desk.edit("Bytes")
    at_end(page, "two\nthree")
    expect(state(page)).to_have_text("Saved")
    assert desk.read("Bytes.md") == before + b"two\r\nthree"
    page.keyboard.insert_text(" and more")
    page.keyboard.press("Control+s")
    desk.until("Bytes.md", "and more")
    page.get_by_label("Value of status").fill("done")
    page.get_by_label("Value of status").press("Enter")
    desk.until("Bytes.md", "status: done # why\r\n")
    page.get_by_role("combobox", name="Add to tags").fill("frost")
    page.keyboard.press("Enter")
    expect(page.locator(".pills .tag")).to_have_text(["a", "frost"])
    desk.until("Bytes.md", "frost")
    tags = desk.read("Bytes.md").decode("utf-8-sig")
    assert tags.endswith("# Bytes\r\n\r\none\r\ntwo\r\nthree and more")
    field(page).focus()
    for _ in range(4):
        page.keyboard.press("Control+z")
    desk.until("Bytes.md", "one\r\n")
    expect(state(page)).to_have_text("Saved")
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".prose")).to_contain_text("one")


@pytest.mark.fault(
    "The web page",
    "the tab is closed with unsaved text",
    "kept as a draft, offered at the next opening",
)
def test_a_draft_outlives_its_page(desk: Desk):
    desk.note("Draft.md", "# Draft\n\nfirst\n")
    page = desk.edit("Draft")
    page.route("**/write/note", lambda route: route.abort())
    at_end(page, "only here")
    expect(state(page)).to_have_text("Not saved, will try again")
    page.unroute("**/write/note")
    page.goto("about:blank")
    other = page.context.new_page()
    other.goto(f"{desk.program.endpoint}/ui/#/notes/{desk.id_of('Draft')}?edit=1")
    if "only here" in desk.read("Draft.md").decode():
        return  # the browser had sent it after all
    other.get_by_role("button", name="Restore it").click()
    expect(field(other)).to_contain_text("only here")
    desk.until("Draft.md", "only here")
    expect(state(other)).to_have_text("Saved")
    other.close()


def test_going_to_another_note_saves_the_one_before(desk: Desk):
    desk.note("Before.md", "# Before\n\n")
    desk.note("After.md", "# After\n\n")
    page = desk.edit("Before")
    at_end(page, "typed before")
    page.locator(".row", has_text="After").click()
    expect(page.locator(".edit .crumb h1")).to_have_text("After")
    expect(field(page)).to_contain_text("After")
    at_end(page, "typed after")
    page.evaluate("location.hash = '#/graph'")
    desk.until("Before.md", "# Before\n\ntyped before")
    desk.until("After.md", "# After\n\ntyped after")


@pytest.mark.fault(
    "The web page",
    "two tabs, another program or a deletion changes the note that is edited",
    "follows, merges and shows, or a conflict; nothing is overwritten unseen",
)
def test_what_others_write_is_never_overwritten(desk: Desk):
    desk.note("Shared.md", "# Shared\n\none\n\ntwo\n\nthree\n")
    page = desk.edit("Shared")
    desk.program.write("Shared.md", "# Shared\n\none\n\ntwo\n\nTHREE\n")
    expect(field(page)).to_contain_text("THREE")  # nothing unsaved: it follows
    page.locator(".cm-line", has_text="one").click()
    page.keyboard.press("End")
    with held(page, "**/write/note"):
        page.keyboard.insert_text(" mine")
        desk.program.write("Shared.md", "# Shared\n\none\n\ntwo\n\nTHREE and four\n")
    expect(state(page)).to_have_text("Changed elsewhere")
    assert "mine" not in desk.read("Shared.md").decode(), "never saved unseen"
    expect(page.locator(".ln-theirs")).to_have_text("THREE and four")
    page.get_by_role("button", name="Keep both").click()
    desk.until("Shared.md", "one mine\n\ntwo\n\nTHREE and four\n")

    other = desk.open(f"/notes/{desk.id_of('Shared')}?edit=1", page.context)
    expect(field(other)).to_be_focused()
    saves: list[Route] = []  # both have typed before one is saved

    def later(route: Route) -> None:
        route.fallback() if route.request.method == "GET" else saves.append(route)

    page.context.route("**/*", later)
    for tab, text in ((other, " in a tab"), (page, " in another")):
        tab.locator(".cm-line", has_text="two").click()
        tab.keyboard.press("End")
        tab.keyboard.insert_text(text)
        expect(field(tab)).to_contain_text(text)
    page.context.unroute("**/*", later)
    for route in saves:
        route.continue_()
    tabs = [page, other]
    wait(page, lambda: any(tab.locator(".conflict").count() for tab in tabs))
    (tab,) = [tab for tab in tabs if tab.locator(".conflict").count()]
    now = desk.read("Shared.md").decode()
    assert ("in a tab" in now) != ("in another" in now)
    tab.get_by_role("button", name="Save mine as a copy").click()
    expect(state(tab)).to_have_text("Saved")
    copies = [each.read_text() for each in desk.program.vault.glob("Shared (conflict *).md")]
    assert len(copies) == 1
    assert ("in a tab" in copies[0]) != ("in a tab" in now)
    other.close()

    (desk.program.vault / "Shared.md").rename(desk.program.vault / "Elsewhere.md")
    expect(page.locator(".edit .crumb h1")).to_have_attribute("title", "Elsewhere.md")
    at_end(page, "after the rename\n")
    desk.until("Elsewhere.md", "after the rename")
    expect(state(page)).to_have_text("Saved")
    (desk.program.vault / "Elsewhere.md").unlink()
    expect(state(page)).to_have_text("Deleted elsewhere")
    page.get_by_role("button", name="Save as new").click()
    desk.until("Elsewhere.md", "after the rename")


@pytest.mark.parametrize("order", ["new name first", "old name first"])
def test_a_note_that_gets_another_name_in_two_steps_is_followed(desk: Desk, order: str):
    """An index run may see a rename as two changes."""
    old, new = f"Old {order}.md", f"New {order}.md"
    text = f"# Steps\n\nOf the {order}.\n"
    desk.note(old, text)
    page = desk.open(f"/notes/{quote(old)}?edit=1")
    expect(field(page)).to_be_focused()
    if order == "new name first":
        desk.note(new, text)
        (desk.program.vault / old).unlink()
    else:
        (desk.program.vault / old).unlink()
        desk.settle()
        expect(state(page)).to_have_text("Deleted elsewhere")
        desk.note(new, text)
    expect(page.locator(".edit .crumb h1")).to_have_attribute("title", new)
    expect(state(page)).to_have_text("Saved")
    field(page).press("Control+Shift+Enter")
    expect(page.locator(".prose")).to_contain_text(f"Of the {order}.")


@pytest.mark.fault(
    "The web page",
    "the reply to a save is lost; the server restarts under the editor",
    "the same save is sent again with its key; the text waits",
)
def test_a_lost_reply_is_asked_again_and_a_server_that_restarts_is_waited_for(desk: Desk):
    desk.note("Again.md", "# Again\n\n")
    page = desk.edit("Again", expected=("Failed to load",))
    lost: list[str] = []

    def lose(route: object) -> None:
        body = route.request.post_data_json  # type: ignore[attr-defined]
        if body.get("dryRun") or lost:
            return route.continue_()  # type: ignore[attr-defined,no-any-return]
        lost.append(body["idempotencyKey"])
        route.fetch()  # type: ignore[attr-defined]
        return route.abort()  # type: ignore[attr-defined,no-any-return]

    page.route("**/write/note", lose)
    at_end(page, "once\n")
    expect(state(page)).to_have_text("Saved")
    page.unroute("**/write/note")
    assert desk.read("Again.md") == b"# Again\n\nonce\n"
    assert lost
    port = desk.program.endpoint.rpartition(":")[2]
    desk.program.stop()
    at_end(page, "while it was away\n")
    expect(state(page)).to_have_text("Not saved, will try again")
    desk.program.start("--port", port)
    desk.until("Again.md", "while it was away")


def test_new_notes_from_templates_and_links_to_no_note(desk: Desk):
    page = desk.open("/notes")
    page.keyboard.press("Alt+n")
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Title").fill("Lonely")
    dialog.get_by_role("combobox", name="Folder").fill("garden")
    expect(dialog).to_contain_text("There is a note of this name.")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_label("Title").fill("Which: probe?")
    dialog.get_by_text("Decision").click()
    expect(dialog).to_contain_text("garden/Which- probe-.md")
    dialog.get_by_label("Title").press("Enter")
    expect(field(page)).to_contain_text("Options Considered")
    assert b"type: decision" in desk.read("garden/Which- probe-.md")
    frost = desk.id_of("Frost%20alarm")
    page.evaluate("hash => location.hash = hash", f"#/notes/{frost}")
    page.locator(".prose a.unresolved", has_text="Dew point sensor").click()
    expect(dialog.get_by_label("Title")).to_have_value("Dew point sensor")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("Made by the palette")
    page.keyboard.press("Shift+Enter")
    expect(dialog.get_by_label("Title")).to_have_value("Made by the palette")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Unlinked").click()
    page.get_by_role("button", name="Link it").first.click()
    desk.until("journal/Rewired.md", "[[Frost alarm")


def test_completion_tools_and_files(desk: Desk):
    desk.note("Tools.md", "# Tools\n\n")
    page = desk.edit("Tools")
    at_end(page, "")

    def complete(text: str, option: str) -> None:
        page.keyboard.type(text)
        expect(page.get_by_role("option").first).to_contain_text(option)
        page.wait_for_timeout(120)  # an Enter right after the list appears is not taken
        page.keyboard.press("Enter")

    complete("[[two se", "Two sensors")
    page.keyboard.type(" ")
    complete("[[Sensor script#vo", "Voting")
    page.keyboard.type(" ")
    complete("#fros", "#frost")
    page.keyboard.press("Enter")
    complete("/cal", "Callout")
    page.keyboard.type("Mind")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.type("word")
    for keys in ("Control+b", "Control+i"):
        page.keyboard.press(keys)
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("- [ ] one")
    page.keyboard.press("Enter")
    page.keyboard.type("two")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Tab")
    page.locator("input[type=file]").set_input_files(
        {"name": "a:b.png", "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x1a\n" + bytes(40)}
    )
    desk.until("Tools.md", "![[a-b.png]]")
    text = desk.read("Tools.md").decode()
    assert "[[Frost alarm|Two sensors]] [[Sensor script#Voting]] #frost\n> [!note] Mind\n" in text
    assert "***word***" in text
    assert "- [ ] one\n\t- [x] two![[a-b.png]]" in text
    assert desk.read("attachments/a-b.png").startswith(b"\x89PNG")


def test_the_preview_draws_a_diagram_as_it_is_written(desk: Desk):
    desk.note("Drawn.md", "# Drawn\n\n```mermaid\nflowchart LR\n  A --> B\n  B --> C\n```\n")
    page = desk.edit("Drawn")
    page.keyboard.press("Control+e")
    figure = page.get_by_role("region", name="Preview", exact=True).locator(".diagram")
    picture, state = figure.locator("img"), figure.locator("summary")
    expect(picture).to_be_visible()
    before = picture.get_attribute("width") or ""
    page.locator(".cm-line", has_text="B --> C").click()
    page.keyboard.press("End")
    page.keyboard.type(" --")
    expect(state).to_have_text("This diagram cannot be drawn: line 3 cannot be read")
    expect(picture).to_have_count(0)
    page.keyboard.type("> D")
    expect(picture).not_to_have_attribute("width", before)
    expect(state).to_have_text("Source")
    expect(figure).to_have_count(1)


@pytest.mark.fault(
    "The web page",
    "hostile text in the editor and its preview",
    "shown as text",
)
def test_the_preview_follows_and_shows_hostile_text_as_text(desk: Desk):
    desk.note("Preview.md", "# Preview\n\n" + "\n\n".join(f"Line {n}" for n in range(80)) + "\n")
    page = desk.edit("Preview")
    page.keyboard.press("Control+End")
    page.keyboard.press("Control+e")
    seen = page.get_by_role("region", name="Preview", exact=True)
    expect(seen.locator("p", has_text="Line 79")).to_be_in_viewport()  # where the cursor is
    first = seen.locator(".prose p").first.evaluate_handle("each => each")
    at_end(page, "\nand **more**\n")
    expect(seen.locator("strong", has_text="more")).to_be_visible()
    assert first.evaluate("each => each.isConnected"), "what did not change stays"
    expect(seen.locator("p", has_text="Line 79")).to_be_in_viewport()
    at_end(page, "\n\n".join(("", *PAYLOADS[:60], "The end of them")))
    expect(seen).to_contain_text("The end of them")
    bad = ".seen .prose :is(script, style, iframe, object, embed, form, base, meta, link), .cm-content :is(script, img, iframe, svg)"
    assert page.locator(bad).count() == 0
    page.keyboard.press("Control+e")
    expect(page.locator(".pane.typed")).to_be_hidden()
    page.keyboard.press("Control+e")
    expect(seen).to_have_count(0)
    expect(field(page)).to_be_focused()


def test_wrapped_items_hang_at_every_level(desk: Desk):
    items = [f"{' ' * 2 * depth}- {'word ' * 60}" for depth in range(4)]
    desk.note("Levels.md", "# Levels\n\n" + "\n".join(items) + "\n")
    page = desk.edit("Levels", viewport={"width": 390, "height": 900})
    heading, mark = (
        page.locator(each).first.evaluate("""line => {
          const range = document.createRange();
          range.selectNodeContents(line);
          return range.getBoundingClientRect().left;
        }""")
        for each in (".cm-line", ".ln-item")
    )
    assert abs(heading - mark) < 4, "a mark begins where other lines do"
    # Of each item: how far its second line begins from the first letter.
    apart = page.locator(".ln-item").evaluate_all("""each => each.map((line) => {
      const words = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      while (!words.nextNode().textContent.includes("word"));
      const at = words.currentNode.textContent.indexOf("word");
      const place = (from) => {
        const range = document.createRange();
        range.setStart(words.currentNode, from);
        range.setEnd(words.currentNode, from + 1);
        return range.getBoundingClientRect();
      };
      const first = place(at);
      for (let from = at; ; from += 5) {
        const next = place(from);
        if (next.top > first.top + 4) return next.left - first.left;
      }
    })""")
    assert len(apart) == 4
    assert all(abs(each) < 6 for each in apart), apart


def test_properties_that_are_changed_one_after_another_are_all_saved(desk: Desk):
    desk.note("Quick.md", "---\nstatus: open\ntags: [a]\n---\n# Quick\n")
    page = desk.edit("Quick")
    on_the_way: list[Route] = []
    page.route("**/write/frontmatter", lambda route: on_the_way.append(route), times=1)  # noqa: PLW0108
    page.get_by_label("Value of status").fill("done")
    with page.expect_request("**/write/frontmatter"):
        page.get_by_label("Value of status").press("Enter")
    page.get_by_role("combobox", name="Add to tags").fill("frost")
    page.keyboard.press("Enter")
    expect(page.locator(".pills .tag")).to_have_text(["a", "frost"])
    with page.expect_response(lambda reply: "frost" in (reply.request.post_data or "")):
        on_the_way[0].continue_()
    assert "frost" in desk.read("Quick.md").decode()
    assert "status: done" in desk.read("Quick.md").decode()
    expect(page.locator(".pills .tag")).to_have_text(["a", "frost"])


def test_a_property_keeps_what_is_typed_while_another_one_is_saved(desk: Desk):
    desk.note("Typed.md", '---\nstatus: open\ncity: Paris\nrelated: "[[A]]"\n---\n# Typed\n')
    page = desk.edit("Typed")
    page.get_by_label("Value of status").fill("done")
    with read_again(page), held(page, "**/write/frontmatter"):
        page.get_by_label("Value of city").select_text()
        page.keyboard.type("Ber")
    page.keyboard.type("lin40")
    with read_again(page):
        page.get_by_label("Value of related").select_text()
        page.keyboard.type("[[Ma")
    page.keyboard.type("in]]")
    page.keyboard.press("Enter")
    desk.until("Typed.md", "[[Main]]")
    text = desk.read("Typed.md").decode()
    assert text == '---\nstatus: done\ncity: Berlin40\nrelated: "[[Main]]"\n---\n# Typed\n'


def test_items_that_are_added_while_others_are_saved_are_all_kept(desk: Desk):
    desk.note("Items.md", "---\ntags: [a]\n---\n# Items\n")
    page = desk.edit("Items")
    waiting: list[Route] = []
    page.route("**/write/frontmatter", lambda route: waiting.append(route))  # noqa: PLW0108
    tags = page.get_by_role("combobox", name="Add to tags")
    for tag in ("b", "c"):
        tags.fill(tag)
        tags.press("Enter")
    wait(page, lambda: len(waiting) == 1)
    waiting[0].continue_()
    wait(page, lambda: len(waiting) == 2)
    expect(page.locator(".pills .tag")).to_have_text(["a", "b", "c"])
    tags.fill("d")
    tags.press("Enter")
    waiting[1].continue_()
    page.unroute("**/write/frontmatter")  # sends on what waits
    desk.until("Items.md", "d")
    expect(page.locator(".pills .tag")).to_have_text(["a", "b", "c", "d"])
    assert all(f"{tag}" in desk.read("Items.md").decode() for tag in "abcd")


def test_escape_takes_back_what_is_typed_in_a_property(desk: Desk):
    desk.note("Escaped.md", "---\nstatus: open\ndate: 2026-03-01\ntype: bug\n---\n# Escaped\n")
    before = desk.read("Escaped.md")
    page = desk.edit("Escaped")
    status = page.get_by_label("Value of status")
    kind = page.get_by_role("combobox", name="Value of type")
    for value in (status, kind):
        value.fill("wrong")
        page.keyboard.press("Escape")
    expect(status).to_have_value("open")
    expect(kind).to_have_value("bug")
    date = page.get_by_label("Value of date")
    date.click()
    page.keyboard.press("Delete")  # half a date is none
    date.blur()
    expect(date).to_have_value("2026-03-01")
    page.get_by_role("button", name="Done").click()
    expect(page.locator("article.read")).to_be_visible()
    assert desk.read("Escaped.md") == before


def test_properties_are_saved_that_were_changed_just_before_done(desk: Desk):
    desk.note("Leaving.md", "---\nstatus: open\nplace: here\n---\n# Leaving\n")
    page = desk.edit("Leaving")
    with held(page, "**/write/frontmatter"):
        page.get_by_label("Value of status").fill("done")
        page.get_by_label("Value of place").fill("there")
        page.get_by_role("button", name="Done").click()
        expect(page.locator("article.read")).to_be_visible()
    desk.until("Leaving.md", "place: there")
    assert "status: done" in desk.read("Leaving.md").decode()


def test_tab_walks_what_a_template_leaves_to_be_written(desk: Desk):
    text = "# Walk\n\n[a link](x) and [[Walk]] and [^1]\n\n[First of all]\n\n1. **A** - [then this]\n\n[^1]: foot\n"
    desk.note("Walk.md", text)
    page = desk.edit("Walk")
    for answer in ("one", "two"):
        page.keyboard.press("Tab")
        page.keyboard.insert_text(answer)
    page.keyboard.press("Tab")  # nothing is left: the level of the list
    desk.until("Walk.md", "two")
    written = desk.read("Walk.md").decode()
    assert "[a link](x) and [[Walk]] and [^1]\n\none\n\n" in written
    assert "**A** - two\n\n[^1]: foot" in written


def test_the_first_key_in_a_new_note_stands_below_its_heading(desk: Desk):
    template = "Decision"
    page = desk.open("/notes")
    page.keyboard.press("Alt+n")
    page.get_by_role("dialog").get_by_role("radio", name=template).check()
    page.get_by_label("Title").fill(f"New {template}")
    page.get_by_role("button", name="Create").click()
    expect(field(page)).to_be_focused()
    page.keyboard.insert_text("typed at once")
    page.keyboard.press("Control+s")
    path = f"New {template}.md"
    desk.until(path, "typed at once")
    lines = desk.read(path).decode().splitlines()
    [typed] = [number for number, line in enumerate(lines) if line.startswith("typed at once")]
    assert typed > lines.index(f"# New {template}")


def test_properties_that_cannot_be_read_are_shown_as_text(desk: Desk):
    desk.note("Broken.md", "---\ntags: [a\nb: : c\n---\n# Broken\n")
    page = desk.edit("Broken")
    expect(page.locator(".fm .say")).to_contain_text("The properties cannot be read")
    expect(field(page)).to_contain_text("tags: [a")
    assert desk.read("Broken.md") == b"---\ntags: [a\nb: : c\n---\n# Broken\n"


def test_everything_by_keys_alone(desk: Desk):
    """Edit, save, and resolve a conflict that was made outside."""
    desk.note("By keys.md", "# By keys\n\none\n")
    page = desk.open(f"/notes/{desk.id_of('By%20keys')}")
    expect(page.locator(".back")).to_be_visible()  # the last part of the page
    page.keyboard.press("e")
    expect(field(page)).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type("mine")
    page.keyboard.press("Control+s")
    expect(state(page)).to_have_text("Saved")
    with held(page, "**/write/note"):
        page.keyboard.type(", and more of it")
        desk.program.write("By keys.md", "# By keys\n\none\ntheirs\n")
    expect(page.locator(".conflict")).to_be_visible()
    expect(page.get_by_role("textbox", name="Your text")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type(" (theirs too)")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Tab")
    for _ in range(6):
        if page.evaluate("document.activeElement.textContent") == "Save your text":
            break
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    desk.until("By keys.md", "mine, and more of it (theirs too)")
    expect(field(page)).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(
        "document.activeElement !== document.body && !document.activeElement.closest('.cm-editor')"
    )
    field(page).focus()
    page.keyboard.press("Control+Shift+Enter")
    expect(page.locator(".prose")).to_contain_text("theirs too")


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(desk: Desk, theme: str, width: int):
    name = f"Axe {theme} {width}"
    text = "---\ntype: bug\ntags: [a, b]\ndone: true\n---\n# Axe\n\n> [!warning] Mind\n> text\n\n`code` ==mark== #tag [[Frost alarm]]\n\none\n"
    desk.note(f"{name}.md", text)
    page = desk.edit(name.replace(" ", "%20"), color_scheme=theme, viewport={"width": width, "height": 800}, reduced_motion="reduce")  # fmt: skip
    found = {}

    def look(where: str) -> None:
        settle(page)
        wrong = violations(page, RULES)
        wide = page.evaluate(
            "[document.documentElement, ...document.querySelectorAll('.edit, .pane, .conflict, dialog')]"
            ".filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map(e => e.className || e.tagName)"
        )
        if wrong or wide:
            found[where] = wrong + wide

    look("editor")
    page.keyboard.press("Control+e")
    expect(page.locator(".seen .callout")).to_be_visible()
    look("preview")
    page.keyboard.press("Control+f")
    expect(page.locator(".cm-search")).to_have_count(1)  # it is loaded first, and takes the focus
    page.keyboard.press("Control+e")
    page.keyboard.press("Control+e")
    expect(page.locator(".seen")).to_have_count(0)
    at_end(page, "[[fro")
    expect(page.get_by_role("option").first).to_be_visible()
    look("completion")
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+n")
    page.get_by_label("Title").fill("Another")
    expect(page.get_by_role("dialog")).to_contain_text("Another.md")
    look("new note")
    page.keyboard.press("Escape")
    with held(page, "**/write/note"):
        at_end(page, "mine")
        desk.program.write(f"{name}.md", f"{text}theirs\n")
    expect(page.locator(".conflict")).to_be_visible()
    look("conflict")
    below = page.locator(".conflict > header").evaluate(
        "e => e.getBoundingClientRect().bottom - e.querySelector('.acts').getBoundingClientRect().bottom"
    )
    assert below >= 8, "the last button is apart from the line below"
    if width == 390:
        buttons, line = (
            page.locator(f".cm-deletedChunk {each}").first.bounding_box()
            for each in (".cm-chunkButtons", ".cm-deletedLine")
        )
        assert buttons, "each change can be taken"
        assert line, "and is shown"
        assert buttons["y"] + buttons["height"] <= line["y"] + 1, "no button covers it"
    assert not found, found


def test_text_that_is_composed_is_left_to_the_input_method(desk: Desk):
    desk.note("IME.md", "# IME\n\n")
    page = desk.edit("IME")
    at_end(page, "[[")
    client = page.context.new_cdp_session(page)
    client.send("Input.imeSetComposition", {"text": "しも", "selectionStart": 2, "selectionEnd": 2})
    page.wait_for_timeout(300)
    page.evaluate(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, isComposing: true, bubbles: true}))"
    )
    client.send("Input.insertText", {"text": "霜"})
    expect(field(page)).to_contain_text("[[霜")
    at_end(page, "\nراجع [[Frost alarm]] الآن\n")
    desk.until("IME.md", "راجع")
    line = page.locator(".cm-line", has_text="راجع")
    expect(line).to_have_css("direction", "rtl")


@pytest.mark.parametrize(
    ("link", "title", "shown"),
    [
        ("[[100% rye]]", "100% rye", None),
        ("[[100% rye#The crust|x]]", "100% rye", "The crust"),
        ("[x](100%25%20rye.md#the-crust)", "100% rye", "The crust"),
        ("[x](<100% rye.md>)", "100% rye", None),
        ("[[#Below]]", "Follow", "Below"),
    ],
)
def test_a_link_is_followed_to_its_note_and_heading(
    desk: Desk, link: str, title: str, shown: str | None
):
    filler = "\n\n".join(f"Line {n}" for n in range(80))
    desk.note("100% rye.md", f"# 100% rye\n\n{filler}\n\n## The crust\n\nthin\n")
    desk.note("Follow.md", f"{link}\n\n{filler}\n\n## Below\n\nend\n")
    page = desk.edit("Follow")
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Alt+Enter")
    read = page.locator("article.read")
    expect(read.get_by_role("heading", name=title, exact=True).first).to_be_attached()
    if shown is not None:
        expect(read.get_by_role("heading", name=shown)).to_be_in_viewport()


def test_a_type_that_is_a_link_is_shown_by_its_name(desk: Desk):
    desk.note("Typed.md", "---\ntype: ['[[people/Author|Author]]']\n---\n# Typed\n\nText.\n")
    page = desk.open(f"/notes/{desk.id_of('Typed')}")
    expect(page.locator(".doc .kind")).to_have_text("Author")


def test_brackets_without_an_address_look_like_text(desk: Desk):
    desk.note(
        "Brackets.md",
        "# Brackets\n\n[What was decided] and [^1], a [link](Lonely.md).\n\n[^1]: x\n\n    Second.\n"
        "\nText.\n\n    code\n",
    )
    page = desk.edit("Brackets")
    expect(page.locator(".cm-content .md-link")).to_have_text(
        ["[", "link", "]", "(", "Lonely.md", ")"]
    )
    expect(page.locator(".cm-content .md-code")).to_have_text(["    code"])


def test_the_outline_leads_to_a_heading_while_editing(desk: Desk):
    desk.note("Long.md", "# Long\n\n" + "Text.\n\n" * 150 + "## Far below\n\nThere.\n")
    page = desk.edit("Long")
    page.get_by_role("button", name="Outline").click()
    page.get_by_role("menuitem", name="Far below").click()
    expect(page.locator(".cm-line", has_text="Far below")).to_be_in_viewport()
    expect(field(page)).to_be_focused()


def test_a_property_completes_links(desk: Desk):
    desk.note("Linking.md", "---\nparent: none\n---\n# Linking\n")
    page = desk.edit("Linking")
    page.get_by_label("Value of parent").fill("[[Sensor")
    page.get_by_role("option", name="Sensor script").click()
    desk.until("Linking.md", "[[Sensor script]]")


def test_find_stays_in_view_and_the_palette_keeps_its_keys(desk: Desk):
    desk.note("Found.md", "# Found\n\n" + "A line of text.\n\n" * 200)
    page = desk.edit("Found")
    page.keyboard.press("Control+f")
    expect(page.locator(".cm-search")).to_be_visible()
    page.locator(".pane.typed").evaluate("each => each.scrollTop = 3000")
    expect(page.locator(".cm-search")).to_be_in_viewport(ratio=1)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Jump to a note or command")).to_be_visible()
    assert "[](" not in desk.read("Found.md").decode()
