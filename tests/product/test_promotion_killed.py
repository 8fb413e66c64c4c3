"""A server that is killed while it promotes: one copy, whole notes, and the next one goes on."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.product.test_promotion import KEY, NOTE, Projects
from tests.support.program import Program

from vault_agent.markdown.yaml.edit import read_keys
from vault_agent.model.identifiers import identify

PATH = f"/vaults/project:shop/notes/{identify('decisions/parse.md')}/promote"


@pytest.mark.long
def test_a_killed_server_leaves_one_copy_and_whole_notes(tmp_path: Path):
    program = Program(tmp_path)
    projects = Projects(program)
    copies = projects.shared / "decisions"
    (projects.shared / "Other.md").write_text("# Other\n")  # an empty vault is taken for unmounted
    try:
        for delay in (0.0, 0.02, 0.06, 0.15):
            projects.note.write_text(NOTE)
            for left in copies.glob("*.md") if copies.exists() else ():
                left.unlink()
            program.start()
            projects.index("project:shop")
            projects.index("global")
            asking = threading.Thread(target=_ask, args=(program,))
            asking.start()
            time.sleep(delay)
            program.kill()
            asking.join()
            text = projects.note.read_text()
            assert text == NOTE or "promoted_to: global:decisions/" in text
            assert text.endswith(NOTE.partition("---\n# ")[2])
            for copy in copies.glob("*.md") if copies.exists() else ():
                assert copy.read_text().endswith(NOTE.partition("---\n# ")[2])
            program.start()
            done = projects.run(projects.shop, "memory", "promote", "Parse costs with a regex")
            assert done.returncode == 0, done.stderr
            (copy,) = copies.glob("*.md")
            marks: dict[str, Any] = dict(read_keys(projects.note.read_bytes()))
            assert marks["promoted_to"] == f"global:decisions/{copy.name}"
            program.stop()
    finally:
        program.close()


def _ask(program: Program) -> None:
    import urllib.request

    request = urllib.request.Request(
        program.endpoint + PATH,
        method="POST",
        data=b"{}",
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"},
    )
    with suppress(OSError, ValueError), urllib.request.urlopen(request, timeout=30):
        pass
