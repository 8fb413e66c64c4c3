"""While writing is off, no process of the program opens a file of the vault to change it."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import program as running
from tests.support.program import Program

HOOKED = Path(__file__).with_name("hooked")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="paths are compared as Linux has them")
_CHANGING = re.compile(
    r"(?:creat|rename\w*|unlink\w*|mkdir\w*|rmdir|link\w*|symlink\w*|f?truncate\w*|f?chmod\w*"
    r"|f?l?chown\w*|utime\w*|f?l?setxattr|mknod\w*)\("
)
_OPENING = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)")


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with Program(tmp_path) as made:
        made.write("Bread.md", "# Bread\n\nFlour and water. - [ ] bake\n")
        yield made


def use(program: Program) -> None:
    """Index, search, read, and try every write."""
    program.index()
    assert program.search("flour").data["results"]
    program.write("Jam.md", "# Jam\n\nquinces\n")
    program.index()
    for path, reply in program.call("GET", "/openapi.json").body["paths"].items():
        takes_json = path != "/write/attachment"
        if path.startswith("/write/") and takes_json and "post" in reply:
            refused = program.call("POST", path, {})
            assert (refused.status, refused.code) == (403, "FEATURE_DISABLED"), path


@pytest.mark.fault(
    "Writing",
    "writing is off",
    "nothing of the vault is opened for writing, in any process",
)
@LINUX
def test_nothing_of_the_vault_is_opened_to_change_it(program: Program, tmp_path: Path):
    notes = tmp_path / "notes"
    program.variables |= {
        "PYTHONPATH": str(HOOKED),
        "HOOKED_BELOW": str(program.vault),
        "HOOKED_NOTES": str(notes),
    }
    program.start()
    use(program)
    program.stop()
    assert notes.read_text() == ""
    assert not list(tmp_path.rglob("write.lock"))


@LINUX
@pytest.mark.long
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_no_system_call_of_any_process_changes_the_vault(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    trace = tmp_path / "trace"
    calls = "trace=%file,ftruncate,fchmod,fchown,fsetxattr"
    # `-D`: the program is the process that is started and stopped, not strace.
    traced = ("strace", "-D", "-f", "-y", "-qq", "-s", "4096", "-e", calls, "-o", str(trace))
    monkeypatch.setattr(running, "PROGRAM", (*traced, *running.PROGRAM))
    program.start("--watch")
    use(program)
    program.stop()
    changes = [
        line
        for line in trace.read_text("utf-8", "replace").splitlines()
        if str(program.vault) in line and (_CHANGING.search(line) or _OPENING.search(line))
    ]
    assert changes == []
