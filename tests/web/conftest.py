"""A browser, and pages of the real server. Every page is watched: see `watched.Watch`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import NO_BROWSER
from tests.support.clocks import PATIENCE
from tests.support.program import Program
from tests.support.writable_program import WritableProgram
from tests.web.browsers import Elsewhere, expect, find_browser, started_browser
from tests.web.desk import Desk
from tests.web.vault import write_vault
from tests.web.watched import Places, Watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="package")
def started() -> Iterator[tuple[Browser, Elsewhere]]:
    """Start the machine's own browser, once for each test process.

    It ends with the last test of the web page: its event loop would disturb other tests.
    """
    found = find_browser()
    if found is None:
        pytest.skip(NO_BROWSER)
    expect.set_options(timeout=PATIENCE * 1000)
    with started_browser(found) as both:
        yield both


@pytest.fixture(scope="package")
def browser(started: tuple[Browser, Elsewhere]) -> Browser:
    """Return the browser."""
    return started[0]


@pytest.fixture(scope="package")
def places(browser: Browser) -> Iterator[Places]:
    """Return contexts of the browser that tests use one after another."""
    with closing(Places(browser)) as made:
        yield made


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve the vault of the browser tests, with its index made. It is only read."""
    yield from serve(tmp_path_factory.mktemp("site"), more=230)


@pytest.fixture
def own_site(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Program]:
    """Serve a vault that the test may change."""
    yield from serve(tmp_path_factory.mktemp("own"), more=3)


def serve(
    folder: Path,
    *,
    more: int,
    writable: bool = False,
    notes: Mapping[str, str | bytes] | None = None,
    **variables: str,
) -> Iterator[Any]:
    """Serve the vault, with its index made, and yield the program; stop it afterwards.

    If `writable`, it may be written. `notes` are more files by path.
    """
    with WritableProgram(folder) if writable else Program(folder) as program:
        program.variables |= {
            "VAULT_AGENT_WEB_ENABLED": "true",
            "VAULT_AGENT_WATCH_ENABLED": "true",
            **variables,
        }
        write_vault(program.vault, more=more)
        for path, text in (notes or {}).items():
            program.write(path, text)
        program.start()
        program.finish(program.submit())
        yield program


@pytest.fixture
def desk(program: WritableProgram, browser: Browser, places: Places) -> Iterator[Desk]:
    """Open pages of the module's own program. The test fails if one misbehaved."""
    with closing(Desk(program, browser, places)) as made:
        yield made


@pytest.fixture
def visit(browser: Browser, places: Places, site: Program) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the page at an address. The test fails if the page misbehaved."""
    watches: list[Watch] = []

    def opened(place: str = "", *, program: Program = site, **options: object) -> Page:
        watch = Watch(browser, program.endpoint, places, **options)  # type: ignore[arg-type]
        watches.append(watch)
        watch.page.goto(f"{program.endpoint}/ui/#{place}")
        watch.page.wait_for_selector(".vault bdi:not(:empty)")
        return watch.page

    yield opened
    for watch in watches:
        watch.close()


@pytest.fixture
def note_id(site: Program) -> Callable[[str], str]:
    """Return a function that finds a note's ID by its name."""

    def found(name: str, program: Program = site) -> str:
        from urllib.parse import quote

        return str(program.call("GET", f"/resolve?name={quote(name)}").data["notes"][0]["noteId"])

    return found
