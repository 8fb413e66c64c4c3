"""The tabs of open notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.web.browsers import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

FROST = "Frost alarm fires on two sensors"


def ready(page: Page) -> None:
    """Wait until links open in tabs: their module comes after the note, and then its sheet."""
    expect(page.locator("link[href$='/files.css']")).to_be_attached()


def test_notes_open_in_tabs(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    ready(page)
    tabs, title = page.locator(".tabstrip a"), page.locator(".doc header h1")
    expect(title).to_have_text(FROST)
    expect(tabs).to_have_count(0)
    page.locator(".prose a", has_text="Sensor script").first.click(modifiers=["Control"])
    expect(title).to_have_text("Sensor script")
    expect(tabs).to_have_text([FROST, "Sensor script"])
    rows = page.locator(".row h2", has_text="Note 0")
    expect(rows.nth(1)).to_be_attached()
    one, other = rows.nth(0).inner_text(), rows.nth(1).inner_text()
    # A plain click opens a note in the tab that is shown.
    rows.filter(has_text=one).click()
    expect(tabs).to_have_text([FROST, one])
    tabs.first.click()
    expect(title).to_have_text(FROST)
    # A new tab stands beside the one that is shown, and a note has one tab.
    rows.filter(has_text=other).click(button="middle")
    expect(tabs).to_have_text([FROST, other, one])
    rows.filter(has_text=one).click(button="middle")
    expect(title).to_have_text(one)
    expect(tabs).to_have_count(3)
    assert len(page.context.pages) <= 2  # and the one that keeps the process
    page.reload()
    expect(tabs).to_have_text([FROST, other, one])
    tabs.nth(1).click(button="middle")
    expect(tabs).to_have_text([FROST, one])
    expect(title).to_have_text(one)
    page.get_by_role("button", name=f"Close {one}").click()
    expect(tabs).to_have_count(0)
    expect(title).to_have_text(FROST)


def test_tabs_by_keys_alone(visit: Callable[..., Page], note_id: Callable[..., str]):
    page = visit(f"/notes/{note_id('Frost alarm')}")
    ready(page)
    tabs, title = page.locator(".tabstrip a"), page.locator(".doc header h1")
    link = page.locator(".prose a", has_text="Sensor script").first
    link.focus()
    page.keyboard.press("Control+Enter")
    expect(tabs).to_have_text([FROST, "Sensor script"])
    page.keyboard.press("Alt+PageDown")
    expect(title).to_have_text(FROST)
    page.keyboard.press("Alt+PageUp")
    expect(title).to_have_text("Sensor script")
    page.keyboard.press("Alt+ArrowLeft")
    expect(title).to_have_text(FROST)
    expect(page.locator(".tabstrip [aria-current]")).to_have_text(FROST)
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tabs.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(title).to_have_text("Sensor script")
    page.keyboard.press("Alt+w")
    expect(title).to_have_text(FROST)
    expect(tabs).to_have_count(0)
