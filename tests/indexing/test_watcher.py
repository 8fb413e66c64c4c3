"""The watcher process, run in this one with clocks that the tests move."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import eventually

from vault_agent.indexing import watcher as module
from vault_agent.indexing.protocol import (
    Away,
    Beat,
    Seen,
    SeenMuch,
    Watch,
    Watching,
)
from vault_agent.indexing.watcher import FOLDER_SECONDS, GAP_SECONDS, Watcher
from vault_agent.vault.watch import Found, WatchFailed, folder_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vault_agent.indexing.protocol import WatchEvent

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at descriptors as Linux has them")


class Silent:
    """Events of a vault that a test makes."""

    def __init__(self, *_: Any) -> None:
        self.found: list[Found | WatchFailed] = []
        self.unwatched = self.closed = False

    def wait(self, _: threading.Event) -> Found:
        found = self.found.pop() if self.found else Found()
        if isinstance(found, WatchFailed):
            raise found
        return found

    def check(self, _: list[int]) -> None:
        if self.unwatched:
            raise WatchFailed(limit=True)

    def close(self) -> None:
        self.closed = True


class Waits(threading.Event):
    """Counts how often something waits, and really waits only if asked to."""

    def __init__(self, observed: Observed, *, real: bool) -> None:
        super().__init__()
        self._observed = observed
        if not real:
            self.set()

    def wait(self, timeout: float | None = None) -> bool:
        self._observed.waits += 1
        return super().wait(timeout)


class Observed:
    """A watcher, what it has said, and its clocks."""

    def __init__(
        self, root: Path, *, mode: str = "auto", folder: Any = None, waits: bool = False
    ) -> None:
        self.monotonic, self.wall = 100.0, 1_000_000.0
        self.said: list[WatchEvent] = []
        self.waits = 0
        stop = Waits(self, real=waits)
        self.watcher = Watcher(
            Watch(str(root), (), mode, folder),
            self.said.append,
            stop,
            clocks=lambda: (self.monotonic, self.wall),
        )

    @property
    def events(self) -> Any:
        return self.watcher._events

    def turns(self, number: int = 1, *, seconds: float = 1.0) -> list[WatchEvent]:
        """Take turns, and return what is said in them besides beats."""
        self.said.clear()
        for _ in range(number):
            self.monotonic += seconds
            self.wall += seconds
            self.watcher.turn()
        return [event for event in self.said if not isinstance(event, Beat)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    (made / "folder").mkdir(parents=True)
    return made


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Events", Silent)


@pytest.fixture
def watched(root: Path, silent: None) -> Iterator[Observed]:
    made = Observed(root)
    assert made.turns() == [Watching("events", 2, folder_at(str(root)) or ())]
    yield made
    made.watcher.close()


def test_a_watcher_beats_each_second(watched: Observed):
    assert watched.turns(10) == []
    assert watched.said == [Beat()] * 10


def test_paths_are_passed_on_in_lines_of_limited_length(watched: Observed):
    paths = tuple(f"{number}.md" for number in range(250))
    watched.events.found.append(Found(paths))
    said = watched.turns()
    assert [len(event.paths) for event in said if isinstance(event, Seen)] == [100, 100, 50]
    watched.events.found.append(Found(overflow=True))
    assert watched.turns() == [SeenMuch("overflow")]


@pytest.mark.fault(
    "Watching",
    "the computer sleeps, or the watcher is stopped for over 10 s",
    "one look at the whole vault",
)
def test_a_pause_of_the_computer_means_that_anything_may_have_changed(watched: Observed):
    watched.wall += GAP_SECONDS + 3600  # asleep: only the wall clock has gone on
    assert watched.turns() == [SeenMuch("gap")]
    watched.monotonic += GAP_SECONDS + 1
    assert watched.turns() == [SeenMuch("gap")]
    assert watched.turns(5) == []


@pytest.mark.fault(
    "Watching",
    "the clock is set back or forward",
    "at most one needless look",
)
def test_a_clock_set_back_causes_no_scan(watched: Observed):
    watched.wall -= 3600
    assert watched.turns(3) == []
    assert watched.said == [Beat()] * 3


def test_a_missing_folder_is_released_and_watched_again_once_it_is_back(
    watched: Observed, root: Path
):
    events = watched.events
    root.rename(root.with_name("unmounted"))
    assert watched.turns(5) == [Away()]
    assert events.closed
    assert watched.turns(20) == []
    root.with_name("unmounted").rename(root)
    [said] = watched.turns(5)
    assert isinstance(said, Watching)
    assert said.fresh


def test_another_folder_in_its_place_is_not_watched(watched: Observed, root: Path):
    root.rename(root.with_name("unmounted"))
    root.mkdir()
    assert watched.turns(5) == [Away(folder_at(str(root)))]
    assert watched.events is None


def test_a_folder_that_is_removed_and_created_again_is_watched_again(watched: Observed):
    events = watched.events
    watched.events.found.append(Found(root=True))  # perhaps with the same inode
    [said] = watched.turns()
    assert isinstance(said, Watching)
    assert said.fresh
    assert events.closed


def test_a_watcher_that_expects_another_folder_waits_for_it(root: Path, silent: None):
    made = Observed(root, folder=(1, 2))
    assert made.turns() == [Away(folder_at(str(root)))]


def test_a_file_in_place_of_the_folder_is_no_vault(watched: Observed, root: Path):
    (root / "folder").rmdir()
    root.rmdir()
    root.write_text("")
    assert watched.turns(5) == [Away()]


def test_at_the_limit_of_watches_the_watcher_polls(watched: Observed):
    watched.events.found.append(WatchFailed(limit=True))
    [said] = watched.turns()
    assert isinstance(said, Watching)
    assert (said.mode, said.reason) == ("poll", "WATCH_LIMIT")
    assert watched.events is None


def test_a_new_folder_that_is_not_watched_makes_the_watcher_poll(watched: Observed, root: Path):
    (root / "new").mkdir()
    watched.events.found.append(Found(("new",), folders=True))
    said = watched.turns(int(FOLDER_SECONDS) + 1)
    assert said[-1] == Watching("events", 3, folder_at(str(root)) or (), fresh=False)
    watched.events.unwatched = True
    watched.events.found.append(Found(("new",), folders=True))
    said = watched.turns(int(FOLDER_SECONDS) + 1)
    assert said[-1] == Watching("poll", 3, folder_at(str(root)) or (), "WATCH_LIMIT")


def test_after_errors_of_the_library_the_watch_starts_again_after_growing_pauses(
    watched: Observed,
):
    pauses = []
    for _ in range(6):
        watched.events.found.append(WatchFailed(limit=False))
        turns = 1
        while not any(isinstance(event, Watching) for event in watched.turns()):
            turns += 1
        pauses.append(turns - 1)
    assert pauses == sorted(pauses)
    assert pauses[0] == 0
    assert 5 <= pauses[-1] <= 11
    assert watched.waits >= sum(pauses) - len(pauses)  # a pause uses no processor time


def test_a_watch_that_cannot_start_polls(root: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any) -> None:
        raise WatchFailed(limit=False)

    monkeypatch.setattr(module, "Events", refuse)
    made = Observed(root)
    said = made.turns(2)
    assert said == [Watching("poll", 2, folder_at(str(root)) or (), "WATCH_DEAF")]


@pytest.mark.parametrize(
    ("mode", "remote", "expected"),
    [
        ("auto", True, "poll"),
        ("auto", False, "events"),
        ("events", True, "events"),
        ("poll", False, "poll"),
    ],
)
def test_the_mode_follows_the_setting_and_the_file_system(  # noqa: PLR0917
    root: Path,
    silent: None,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    remote: bool,
    expected: str,
):
    monkeypatch.setattr(module, "is_shared", lambda _: remote)
    [said] = Observed(root, mode=mode).turns()
    assert isinstance(said, Watching)
    assert (said.mode, said.reason) == (expected, None)


@LINUX
def test_no_descriptor_of_the_vault_is_held_while_it_is_away(root: Path):
    def held() -> set[str]:
        found = set()
        for number in os.listdir("/proc/self/fd"):  # noqa: PTH208 - numbers
            try:
                found.add(os.readlink(f"/proc/self/fd/{number}"))  # noqa: PTH115 - text
            except OSError:
                continue
        return {name for name in found if "inotify" in name or str(root) in name}

    before = held()
    made = Observed(root)
    made.turns()
    assert held() != before
    root.rename(root.with_name("unmounted"))
    made.turns(6)
    eventually(lambda: held() == before)


@pytest.mark.fault(
    "Watching",
    "a name that is not Unicode appears",
    "the watch starts again and goes on",
)
def test_a_name_that_is_not_unicode_does_not_end_the_watch(root: Path):
    if sys.platform in ("darwin", "win32"):
        pytest.skip("names are Unicode there")
    made = Observed(root, waits=True)
    made.turns()
    os.mknod(os.fsencode(root) + b"/\xff.md")
    said: list[WatchEvent] = []
    while not any(isinstance(event, Watching) for event in said):
        said += made.turns()
    (root / "note.md").write_text("x")
    while Seen(("note.md",)) not in said:
        said += made.turns()
    made.watcher.close()
