"""What of the system's events may change the index, and what cannot be watched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.watch import (
    OVERFLOW_PATHS,
    Events,
    Found,
    WatchFailed,
    folder_inodes,
    is_temporary,
    sort_events,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is watched")
ADDED, MODIFIED, DELETED = 1, 2, 3
EXCLUSIONS = Exclusions(("private/",))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    (made / "folder").mkdir(parents=True)
    (made / "note.md").write_text("x")
    (made / "jar.png").write_text("x")
    return made


def concerned(root: Path, *events: tuple[int, str]) -> Found:
    return sort_events([(kind, f"{root}/{path}") for kind, path in events], str(root), EXCLUSIONS)


@pytest.mark.parametrize("kind", [ADDED, MODIFIED, DELETED])
def test_every_event_of_a_note_counts(root: Path, kind: int):
    assert concerned(root, (kind, "note.md")).paths == ("note.md",)
    assert concerned(root, (kind, "folder/gone.MARKDOWN")).paths == ("folder/gone.MARKDOWN",)
    conflict = "note.sync-conflict-20260101-120000-ABCDEFG.md"
    assert concerned(root, (kind, conflict)).paths == (conflict,)


def test_an_attachment_counts_when_it_comes_or_goes(root: Path):
    assert concerned(root, (MODIFIED, "jar.png")).paths == ()
    assert concerned(root, (ADDED, "jar.png")).paths == ("jar.png",)
    assert concerned(root, (DELETED, "lost.png")).paths == ("lost.png",)
    assert concerned(root, (DELETED, "jar.png"), (MODIFIED, "jar.png")).paths == ("jar.png",)


def test_a_new_folder_is_looked_at_and_must_be_watched(root: Path):
    assert concerned(root, (ADDED, "folder")) == Found(("folder",), folders=True)
    assert concerned(root, (MODIFIED, "folder")).paths == ()
    assert concerned(root, (DELETED, "moved")).paths == ("moved",)


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
            assert concerned(root, (kind, path)).paths == ()


def test_a_note_may_have_a_temporary_name_inside():
    assert not is_temporary("tmp notes.md")
    assert not is_temporary("a.tmp.md")


def test_the_vault_itself_may_come_or_go(root: Path):
    assert sort_events([(DELETED, str(root))], str(root), EXCLUSIONS).root
    assert sort_events([(MODIFIED, str(root))], str(root), EXCLUSIONS) == Found()
    assert sort_events([(ADDED, f"{root}2/note.md")], str(root), EXCLUSIONS) == Found()


@pytest.mark.fault(
    "Watching",
    "the queue of events overflows, or over 20,000 paths wait",
    "one look at the whole vault",
)
def test_many_events_at_once_may_be_an_overflow(root: Path):
    events = [(ADDED, f"{number}.md") for number in range(OVERFLOW_PATHS + 1)]
    assert concerned(root, *events) == Found(overflow=True)
    assert not concerned(root, *events[1:]).overflow


@pytest.fixture
def events(root: Path) -> Iterator[Events]:
    found = Events(str(root), EXCLUSIONS)
    yield found
    found.close()


def seen(events: Events, path: str) -> bool:
    """Wait until an event names a path."""
    stop = threading.Event()
    timer = threading.Timer(PATIENCE, stop.set)
    timer.start()
    try:
        while not stop.is_set():
            if path in events.wait(stop).paths:
                return True
        return False
    finally:
        timer.cancel()


def test_the_system_reports_saves_renames_and_moved_folders(root: Path, events: Events):
    (root / ".note.tmp").write_text("y")
    (root / ".note.tmp").replace(root / "note.md")
    assert seen(events, "note.md")
    (root / "folder").rename(root / "moved")
    assert seen(events, "moved")
    (root / "moved" / "in it.md").write_text("z")
    assert seen(events, "moved/in it.md")
    (root / "moved" / "in it.md").unlink()
    assert seen(events, "moved/in it.md")


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names are Unicode there")
def test_a_name_that_is_not_unicode_ends_the_watch_with_an_error(root: Path, events: Events):
    os.mknod(os.fsencode(root) + b"/\xff.md")
    with pytest.raises(WatchFailed) as failed:
        seen(events, "nothing")
    assert not failed.value.limit


@LINUX
def test_every_folder_that_can_be_listed_is_watched(root: Path, events: Events):
    for number in range(5):
        (root / f"new/{number}").mkdir(parents=True)
    assert seen(events, "new")
    events.check(folder_inodes(str(root), EXCLUSIONS))
    with pytest.raises(WatchFailed) as failed:
        events.check([1])
    assert failed.value.limit


LIMITED = """
import sys, threading
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.watch import Events, WatchFailed, folder_inodes
try:
    events = Events(sys.argv[1], Exclusions())
    events.check(folder_inodes(sys.argv[1], Exclusions()))
except WatchFailed as failure:
    print("limit" if failure.limit else "error")
"""


@pytest.mark.fault(
    "Watching",
    "the system's limit of watches is met, at the start or by a new folder later",
    "the vault is polled; `WATCH_LIMIT` has the number of folders",
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
