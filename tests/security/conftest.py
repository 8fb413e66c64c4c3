"""One real server with a key and secret files around its vault, for all tests of this folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.security.wire import Wire
from tests.support.program import Program
from tests.vault.spellings import SECRET

KEY = "canary-key-of-the-server-0123456789abcdef"


class Fortress(Program):
    """A program whose vault has secret files around it and links to them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.variables = {"VAULT_AGENT_SERVER_LOG_LEVEL": "debug"}
        self.lock(KEY)
        self.private.add("what lies outside", SECRET)
        for place in ("secret.txt", "vault2/secret.txt", "vault2/secret.md", "outside/secret.png"):
            file = folder / place
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(SECRET)
        self.write("Garden/Frost.md", FROST)
        self.write("Garden/photo.png", b"\x89PNG bytes of a photo, canary-attachment-bytes")
        self.write("Garden/page.html", "<script>canary-of-a-page-in-the-vault</script>")
        self.write(".obsidian/secret.json", SECRET)
        self.write("node_modules/secret.txt", SECRET)
        self.outside = folder / "outside"
        for name, target in (
            ("Garden/link.txt", folder / "secret.txt"),
            ("Garden/relative.txt", "../../secret.txt"),
            ("Garden/folder", folder / "outside"),
            ("Garden/up", ".."),
            ("Garden/root", "/"),
            ("Garden/hidden.json", "../.obsidian/secret.json"),
            ("Garden/loop", "loop"),
        ):
            (self.vault / name).symlink_to(target)
        os.mkfifo(self.vault / "Garden/pipe.png")

    def lock(self, key: str) -> None:
        """Require a key from the next server on."""
        self.key = key
        self.variables["VAULT_AGENT_SERVER_API_KEY"] = key
        self.private.add("the key", key)

    def wire(self, key: str | None = "") -> Wire:
        """Return a connection that sends the key, another key or none."""
        return Wire(self.endpoint, self.key if key == "" else key)

    def finish_running(self) -> None:
        """Wait until no job runs."""
        with self.wire() as wire:
            running = wire.ask("GET", "/health").data["runningJob"]
            while running and self.state_of(wire, running) in ("queued", "running"):
                pass

    def state_of(self, wire: Wire, job_id: str) -> str:
        """Return a job's state, waiting shortly for its next event."""
        events = wire.ask("GET", f"/jobs/{job_id}/events").body
        last = events.rpartition(b"data: ")[2].partition(b"\n")[0]
        return str(json.loads(last)["state"])


FROST = """\
---
title: canary-title of a note
aliases: [canary-alias]
secret-field: canary-frontmatter-value
---
# Late frost

Seedlings die of a late frost; canary-note-text stands in this sentence of the body.

## Fleece

Fleece keeps two degrees, and another sentence has canary-chunk-text in it. See [[Frost]].
"""


@pytest.fixture(scope="session")
def fortress(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fortress]:
    """Return a program that serves an index."""
    if os.name == "nt":
        pytest.skip("links and pipes as POSIX has them")
    made = Fortress(tmp_path_factory.mktemp("canary-place"))
    made.fill(40)
    made.start()
    made.finish_running()
    yield made
    made.stop()
    made.close()


@pytest.fixture
def wire(fortress: Fortress) -> Iterator[Wire]:
    """Return a connection that sends the key."""
    with fortress.wire() as connected:
        yield connected
