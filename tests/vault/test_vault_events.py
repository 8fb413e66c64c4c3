"""What of the system's events may change the index, and what cannot be watched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually

from vault_agent.vault import file_events
from vault_agent.vault.file_events import (
    OVERFLOW_EVENTS,
    WatchFailed,
    event_paths,
    follow_changes,
    is_temporary,
)
from vault_agent.vault.paths import Exclusions

ADDED, MODIFIED, DELETED = 1, 2, 3
EXCLUSIONS = Exclusions(("private/",))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    (made / "folder").mkdir(parents=True)
    (made / "note.md").write_text("x")
    (made / "jar.png").write_text("x")
    return made


def concerned(root: Path, *events: tuple[int, str]) -> list[str] | None:
    return event_paths([(kind, f"{root}/{path}") for kind, path in events], str(root), EXCLUSIONS)


@pytest.mark.parametrize("kind", [ADDED, MODIFIED, DELETED])
def test_every_event_of_a_note_counts(root: Path, kind: int):
    assert concerned(root, (kind, "note.md")) == ["note.md"]
    assert concerned(root, (kind, "folder/gone.MARKDOWN")) == ["folder/gone.MARKDOWN"]
    conflict = "note.sync-conflict-20260101-120000-ABCDEFG.md"
    assert concerned(root, (kind, conflict)) == [conflict]


def test_an_attachment_counts_when_it_comes_or_goes(root: Path):
    assert concerned(root, (MODIFIED, "jar.png")) == []
    assert concerned(root, (ADDED, "jar.png")) == ["jar.png"]
    assert concerned(root, (DELETED, "lost.png")) == ["lost.png"]
    assert concerned(root, (DELETED, "jar.png"), (MODIFIED, "jar.png")) == ["jar.png"]


def test_a_new_folder_is_looked_at(root: Path):
    assert concerned(root, (ADDED, "folder")) == ["folder"]
    assert concerned(root, (MODIFIED, "folder")) == []
    assert concerned(root, (DELETED, "moved")) == ["moved"]


@pytest.mark.fault(
    "Watching",
    "temporary names of editors, Syncthing, iCloud, downloads",
    "no run",
)
@pytest.mark.parametrize(
    "path",
    [
        *(".git/index", ".obsidian/workspace.json", "node_modules/a/readme.md", "private/a.md"),
        *(".note.md.swp", "note.md~", "note.md.tmp", "note.md.part", "4913", "~$note.md"),
        *(".syncthing.note.md.tmp", "~syncthing~note.md.tmp", "note.md.crdownload"),
        *(".note.md.icloud", "note.md.icloud", "folder/.hidden.md", "note.swp", "node_modules"),
    ],
)
def test_hidden_excluded_and_temporary_names_do_not_count(root: Path, path: str):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    if path == "node_modules":
        (root / path).mkdir()
    for kind in (ADDED, MODIFIED, DELETED):
        if path != "node_modules" or kind != DELETED:
            assert concerned(root, (kind, path)) == []


def test_a_note_may_have_a_temporary_name_inside():
    assert not is_temporary("tmp notes.md")
    assert not is_temporary("a.tmp.md")


def test_the_vault_itself_may_come_or_go(root: Path):
    assert event_paths([(DELETED, str(root))], str(root), EXCLUSIONS) is None
    assert event_paths([(MODIFIED, str(root))], str(root), EXCLUSIONS) == []
    assert event_paths([(ADDED, f"{root}2/note.md")], str(root), EXCLUSIONS) == []


@pytest.mark.fault(
    "Watching",
    "the queue of events overflows, or over 20,000 paths wait",
    "one look at the whole vault",
)
def test_many_events_at_once_may_be_an_overflow(root: Path):
    events = [(ADDED, f"{number}.md") for number in range(OVERFLOW_EVENTS + 1)]
    assert concerned(root, *events) == [""]
    assert len(concerned(root, *events[1:]) or ()) == OVERFLOW_EVENTS


class Followed:
    """A vault that a thread watches, with the paths that have been reported."""

    def __init__(self, root: Path) -> None:
        self.paths: set[str] = set()
        self.failure: WatchFailed | None = None
        self.stop = threading.Event()
        self.begun = threading.Event()
        self.thread = threading.Thread(target=self._follow, args=(str(root),))
        self.thread.start()
        assert self.begun.wait(PATIENCE)

    def _follow(self, root: str) -> None:
        try:
            follow_changes(root, EXCLUSIONS, (), self._add, self.stop)
        except WatchFailed as failure:
            self.failure = failure

    def _add(self, paths: Collection[str]) -> None:
        self.paths.update(paths)
        self.begun.set()

    def sees(self, path: str) -> None:
        """Wait until a path is reported."""
        eventually(lambda: path in self.paths)


@pytest.fixture
def followed(root: Path) -> Iterator[Followed]:
    made = Followed(root)
    yield made
    made.stop.set()
    made.thread.join(PATIENCE)
    assert not made.thread.is_alive()


def test_the_system_reports_saves_renames_and_moved_folders(root: Path, followed: Followed):
    (root / ".note.tmp").write_text("y")
    (root / ".note.tmp").replace(root / "note.md")
    followed.sees("note.md")
    (root / "folder").rename(root / "moved")
    followed.sees("moved")
    (root / "moved" / "in it.md").write_text("z")
    followed.sees("moved/in it.md")


@pytest.mark.parametrize("is_replaced", [False, True])
def test_the_watch_ends_with_the_folder(
    root: Path, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
):
    monkeypatch.setattr(file_events, "FOLDER_CHECK_MS", 50)
    parent = root.parent / "parent"
    parent.mkdir()
    followed = Followed(root.rename(parent / "vault"))
    parent.rename(parent.with_name("elsewhere"))  # the system reports nothing
    if is_replaced:
        (parent / "vault").mkdir(parents=True)
    followed.thread.join(PATIENCE)
    assert not followed.thread.is_alive()
    assert followed.failure is None


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names are Unicode there")
def test_a_name_that_is_not_unicode_ends_the_watch_with_an_error(root: Path, followed: Followed):
    os.mknod(os.fsencode(root) + b"/\xff.md")
    followed.thread.join(PATIENCE)
    assert not followed.failure.limit


LIMITED = """
import sys, threading
from vault_agent.vault.paths import Exclusions
from vault_agent.vault.file_events import WatchFailed, follow_changes
stop = threading.Event()
try:
    follow_changes(sys.argv[1], Exclusions(), (), lambda _: stop.set(), stop)
except WatchFailed as failure:
    print("limit" if failure.limit else "error")
"""


@pytest.mark.fault(
    "Watching",
    "the system's limit of watches or of programs that watch is met",
    "it is recognised",
)
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a user namespace")
@pytest.mark.parametrize("limit", ["max_inotify_watches", "max_inotify_instances"])
def test_a_limit_of_the_system_is_recognised(root: Path, limit: str):
    for number in range(20):
        (root / f"{number}").mkdir()
    allowed = 10 if "watches" in limit else 0
    script = f'echo {allowed} > /proc/sys/user/{limit} && exec "$@"'
    done = subprocess.run(
        ["unshare", "-U", "-r", "sh", "-c", script, "sh", sys.executable, "-c", LIMITED, str(root)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode != 0 and not done.stdout:
        pytest.skip("user namespaces are not allowed here")
    assert done.stdout.strip() == "limit"
