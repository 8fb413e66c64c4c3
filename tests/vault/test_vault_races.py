"""Files swapped between check and open: nothing outside is opened, and nothing hangs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE, patiently
from tests.support.systems import linux, posix
from tests.vault.spellings import SECRET

from vault_agent.vault.folder import exchange
from vault_agent.vault.opening import CannotOpen, Cause
from vault_agent.vault.root import VaultRoot

MOST_OPENINGS = 4
"""More than any way to open `d/secret.md` needs."""


def read(root: VaultRoot, path: str) -> bytes:
    with root.open_file(path) as file:
        return os.read(file.fd, 1 << 16)


# --- swapped before one call ------------------------------------------------------------------


class LastMoment:
    """Calls a function right before the nth open or listing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], None]):
        self.left = number
        self.act = act
        for name in ("open", "scandir"):
            monkeypatch.setattr(os, name, self.after(getattr(os, name)))

    def after(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def opened(*args: Any, **options: Any) -> Any:
            if self.left == 0:
                self.left = -1
                self.act()
            self.left -= 1
            return real(*args, **options)

        return opened


@pytest.fixture
def secret_elsewhere(folder: Path) -> Path:
    """Create a folder with a harmless note whose name also exists outside with a secret."""
    (folder / "d").mkdir()
    (folder / "d" / "secret.md").write_bytes(b"text")
    return folder


def swap_file_for_link(folder: Path) -> None:
    (folder / "d" / "secret.md").unlink()
    (folder / "d" / "secret.md").symlink_to("../../outside/secret.md")


def swap_folder_for_link(folder: Path) -> None:
    (folder / "d").rename(folder / "was")
    (folder / "d").symlink_to("../outside")


def swap_file_for_pipe(folder: Path) -> None:
    (folder / "d" / "secret.md").unlink()
    os.mkfifo(folder / "d" / "secret.md")


@pytest.mark.parametrize("number", range(MOST_OPENINGS))
@pytest.mark.parametrize("swap", [swap_file_for_link, swap_folder_for_link])
def test_a_file_replaced_by_a_symlink_before_opening_is_not_followed(
    root: VaultRoot,
    secret_elsewhere: Path,
    monkeypatch: pytest.MonkeyPatch,
    swap: Callable[[Path], None],
    number: int,
) -> None:
    with monkeypatch.context() as patched:
        LastMoment(patched, number, lambda: swap(secret_elsewhere))
        try:
            found = read(root, "d/secret.md")
        except CannotOpen as error:
            found = error.cause.encode()
    assert found in (b"text", b"vanished", b"outside")


@pytest.mark.fault(
    "Paths",
    "a pipe, socket or device named like a note",
    "never opened, so nothing waits for it",
)
@posix("pipes of POSIX")
@pytest.mark.parametrize("number", range(MOST_OPENINGS))
def test_a_file_replaced_by_a_pipe_before_opening_is_refused(
    root: VaultRoot, secret_elsewhere: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    with patiently(), monkeypatch.context() as patched:
        LastMoment(patched, number, lambda: swap_file_for_pipe(secret_elsewhere))
        try:
            found = read(root, "d/secret.md")
        except CannotOpen as error:
            found = error.cause.encode()
    assert found in (b"text", b"irregular")


@pytest.mark.parametrize("number", range(MOST_OPENINGS))
def test_a_folder_replaced_by_a_symlink_before_listing_is_not_listed(
    root: VaultRoot, secret_elsewhere: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (secret_elsewhere / "d" / "honest.md").write_bytes(b"text")
    seen: set[str] = set()
    with monkeypatch.context() as patched:
        LastMoment(patched, number, lambda: swap_folder_for_link(secret_elsewhere))
        with suppress(CannotOpen), root.listing("d") as entries:
            seen = {entry.name for entry in entries}
    assert seen in (set(), {"secret.md", "honest.md"})


def test_the_race_tests_cover_every_open_call(
    root: VaultRoot, secret_elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for act in (lambda: read(root, "d/secret.md"), lambda: list_folder(root, "d")):
        with monkeypatch.context() as patched:
            moment = LastMoment(patched, MOST_OPENINGS, lambda: None)
            act()
        assert 0 < moment.left < MOST_OPENINGS


def list_folder(root: VaultRoot, path: str) -> None:
    with root.listing(path) as entries:
        list(entries)


# --- swapped constantly -----------------------------------------------------------------------


def race(swap: Callable[[], None], root: VaultRoot, path: str) -> set[bytes]:
    """Read `path` while `swap` is called again and again; return what was read, or why not.

    Until both an honest text and a refusal have been seen, and for half a second more.
    """
    stop = threading.Event()

    def keep_swapping() -> None:
        while not stop.is_set():
            swap()
            time.sleep(0)

    def tries() -> Iterator[bytes]:
        try:
            yield read(root, path)
        except CannotOpen as error:
            yield error.cause.encode()

    seen: set[bytes] = set()
    thread = threading.Thread(target=keep_swapping)
    thread.start()
    try:
        both, end = False, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            seen.update(tries())
            if not both and {b"text", Cause.OUTSIDE.encode()} <= seen:
                both, end = True, time.monotonic() + 0.5
    finally:
        stop.set()
        thread.join()
    assert both, "the race was never run"
    return seen


@pytest.mark.fault(
    "Paths",
    "a symbolic link out of the vault, also one created between check and open",
    "no byte from outside is read",
)
def test_a_file_swapped_for_a_symlink_leaks_nothing(root: VaultRoot, folder: Path) -> None:
    honest = folder / "honest.md"
    honest.write_bytes(b"text")
    spare = folder / ".spare"

    def swap() -> None:
        # A hard link or a fresh symlink, moved over the place in one step.
        os.link(honest, spare)
        spare.replace(folder / "note.md")
        time.sleep(0)
        spare.symlink_to("../secret.txt")
        spare.replace(folder / "note.md")

    assert SECRET not in race(swap, root, "note.md")


@linux("exchanges a folder and a link")
def test_a_folder_swapped_for_a_symlink_leaks_nothing(root: VaultRoot, folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "secret.md").write_bytes(b"text")
    link = folder / ".link"
    link.symlink_to("../outside")
    swap = partial(exchange, None, str(folder / "d"), None, str(link))
    assert SECRET not in race(swap, root, "d/secret.md")
