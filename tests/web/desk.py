"""A vault that may be written, and pages of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.waiting import eventually
from tests.support.writable_program import WritableProgram
from tests.web.browsers import expect
from tests.web.watched import Places, Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


class Desk:
    """A vault that may be written, and pages of it that have a session."""

    def __init__(self, program: WritableProgram, browser: Browser, places: Places) -> None:
        self.program = program
        self._browser = browser
        self._places = places
        self._watches: list[Watch] = []

    def open(self, place: str, context: BrowserContext | None = None, **options: object) -> Page:
        """Open the page at a place, in a browser of its own or as another tab."""
        ticket = self.program.send("POST", "/ui/tickets", {"printed": True}).data["ticket"]
        address = f"{self.program.endpoint}/ui/#ticket={ticket}&to={place}"
        if context is not None:
            page = context.new_page()
        else:
            expected = ("404", "409", "412", "ERR_", *options.pop("expected", ()))  # type: ignore[misc]
            watch = Watch(
                self._browser,
                self.program.endpoint,
                self._places,
                expected=expected,
                **options,  # type: ignore[arg-type]
            )
            self._watches.append(watch)
            page = watch.page
        page.goto(address)
        page.wait_for_selector(".vault bdi:not(:empty)")
        page.wait_for_selector(".top .new")  # it knows by now that it may write, as its keys do
        return page

    def edit(self, name: str, **options: object) -> Page:
        """Open a note in the editor."""
        page = self.open(f"/notes/{self.id_of(name)}?edit=1", **options)  # type: ignore[arg-type]
        expect(page.locator(".field-md .cm-content")).to_be_focused()
        return page

    def id_of(self, name: str) -> str:
        return str(self.program.call("GET", f"/resolve?name={name}").data["notes"][0]["noteId"])

    def note(self, path: str, text: str | bytes) -> None:
        """Write a note as another program does, and wait until it can be found."""
        self.program.write(path, text)
        self.settle()

    def settle(self) -> None:
        """Wait until every change of the vault can be found."""
        # A job that the watch has begun may not see the last change.
        self.program.finish(self.program.submit())

    def read(self, path: str) -> bytes:
        return (self.program.vault / path).read_bytes()

    def until(self, path: str, text: str) -> None:
        """Wait until a note has a text."""
        eventually(
            lambda: self.read(path).decode(), lambda now: text in now, retry=(FileNotFoundError,)
        )

    def close(self) -> None:
        for watch in self._watches:
            watch.close()
        self._watches.clear()
